//! Programs for the hostile guest. `guest/build/hostile_guest.rs` describes their instructions. The fuzz target `bridge` uses them, too.

/// Addresses that programs use: texts, the area for the results of imports, counters, the result of the run, and a buffer.
pub const TEXT: u64 = 1 << 10;
pub const RETURNED: u64 = 8 << 10;
pub const COUNTER: u64 = 12 << 10;
pub const RESULT: u64 = 16 << 10;
pub const BUFFER: u64 = 64 << 10;

/// The memory of the guest at the start of a run, in bytes.
pub const MEMORY: u64 = 32 << 16;

/// A function that the hostile guest imports.
pub struct Import {
    /// The number of the import in programs.
    pub number: u64,
    /// The interface and the function, such as `io.open`.
    pub name: String,
    /// The number of core parameters.
    pub parameters: usize,
}

/// Returns all imports, as the build derived them from the contract.
pub fn imports() -> Vec<Import> {
    (0..)
        .zip(super::IMPORTS.lines())
        .map(|(number, line)| {
            let mut words = line.split(' ');
            let interface = words.next().expect("an interface");
            let interface = interface.rsplit('/').next().and_then(|name| name.split('@').next()).expect("a name");
            let name = format!("{interface}.{}", words.next().expect("a function"));
            let parameters = words.next().unwrap_or_default().split(',').filter(|word| !word.is_empty()).count();
            Import { number, name, parameters }
        })
        .collect()
}

/// Returns the import with a name.
pub fn import(name: &str) -> Import {
    imports().into_iter().find(|import| import.name == name).unwrap_or_else(|| panic!("the contract has no {name}"))
}

/// An argument of an import.
#[derive(Clone, Copy)]
pub enum Argument {
    /// This value.
    Value(u64),
    /// The 32 bits at this address.
    At(u64),
}

/// The ways in which a function that the host calls can misbehave.
#[derive(Clone, Copy)]
pub enum Mode {
    Behave = 0,
    Trap = 1,
    Loop = 2,
    Recurse = 3,
    CallImport = 4,
    Grow = 5,
    /// `cabi_realloc` returns a constant.
    Return = 16,
}

/// A list of instructions.
#[derive(Clone, Default)]
pub struct Program(Vec<u8>);

impl Program {
    pub fn new() -> Self {
        Self::default()
    }

    fn push(mut self, words: &[u64]) -> Self {
        self.0.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        self
    }

    /// Returns the position of the next instruction.
    pub fn position(&self) -> u64 {
        self.0.len() as u64
    }

    pub fn store(self, address: u64, bytes: &[u8]) -> Self {
        let mut program = self.push(&[1, address, bytes.len() as u64]);
        program.0.extend(bytes);
        program.0.resize(program.0.len().next_multiple_of(8), 0);
        program
    }

    pub fn store_words(self, address: u64, words: &[u32]) -> Self {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.store(address, &bytes)
    }

    pub fn call(self, name: &str, arguments: &[Argument]) -> Self {
        self.call_import(&import(name), arguments)
    }

    pub fn call_import(self, import: &Import, arguments: &[Argument]) -> Self {
        assert_eq!(import.parameters, arguments.len(), "parameters of {}", import.name);
        let is_indirect = |argument: &Argument| u64::from(matches!(argument, Argument::At(_)));
        let indirect = (0..).zip(arguments).map(|(position, argument)| is_indirect(argument) << position).sum();
        let values: Vec<u64> = arguments.iter().map(|(Argument::Value(value) | Argument::At(value))| *value).collect();
        self.push(&[2, import.number, indirect, values.len() as u64]).push(&values)
    }

    pub fn copy(self, destination: u64, source: u64, size: u64) -> Self {
        self.push(&[4, destination, source, size])
    }

    /// Repeats the instructions since `start`. The counter must have been stored before them.
    pub fn repeat(self, start: u64) -> Self {
        self.push(&[5, COUNTER, start])
    }

    pub fn misbehave_in_realloc(self, mode: Mode, argument: u64) -> Self {
        self.push(&[6, mode as u64, argument, 0])
    }

    pub fn misbehave_after_return(self, mode: Mode) -> Self {
        self.push(&[6, 0, 0, mode as u64])
    }

    pub fn misbehave(self, mode: Mode, argument: u64) -> Self {
        self.push(&[7, mode as u64, argument])
    }

    /// Returns a pointer to the result.
    pub fn return_pointer(self, pointer: u64) -> Vec<u8> {
        self.push(&[0, pointer]).0
    }

    /// Returns a text as the result.
    pub fn return_text(self, text: &[u8]) -> Vec<u8> {
        let size = u32::try_from(text.len()).expect("a short text");
        self.store(BUFFER, text).store_words(RESULT, &[0, BUFFER as u32, size]).return_pointer(RESULT)
    }

    /// Returns the JSON text `1`.
    pub fn return_one(self) -> Vec<u8> {
        self.return_text(b"1")
    }
}
