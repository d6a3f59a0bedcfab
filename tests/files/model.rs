//! Random sequences of operations on files: a script, a model in memory and native file calls must agree on every answer, on what
//! is on disk afterwards, and on what was touched.

use crate::support::{IoDir, engine};
use proptest::{collection::vec, prelude::*, sample::select};
use serde::Serialize;
use serde_json::{Value, json};
use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    rc::Rc,
};
use tempfile::TempDir;
use toolscript::{Limits, Script, files::FileOperation};

const SLOTS: usize = 3;

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
enum Operation {
    Open { slot: usize, name: &'static str, mode: &'static str },
    Write { slot: usize, unit: &'static str, count: usize },
    Read { slot: usize, formats: Vec<Format> },
    Seek { slot: usize, whence: &'static str, offset: i64 },
    Flush { slot: usize },
    Close { slot: usize },
    Remove { name: &'static str },
    List {},
    Spin {},
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Format {
    Count(usize),
    Name(&'static str),
}

fn operation() -> impl Strategy<Value = Operation> {
    let slot = || 1..=SLOTS;
    let name = || select(vec!["a", "b", "c"]);
    let count = prop_oneof![4 => 1..20_usize, 2 => 5_000..9_000_usize, 1 => 30_000..70_000_usize];
    let format = prop_oneof![
        4 => select(vec!["*a", "*l", "*L", "*n", "a", "l", "L", "n"]).prop_map(Format::Name),
        2 => (0..30_usize).prop_map(Format::Count),
        1 => (60_000..140_000_usize).prop_map(Format::Count),
    ];
    let offset = prop_oneof![4 => -20..40_i64, 1 => -70_000..200_000_i64];
    prop_oneof![
        4 => (slot(), name(), select(vec!["r", "w", "a", "r+", "w+", "a+", "rb", "w+b"])).prop_map(|(slot, name, mode)| Operation::Open { slot, name, mode }),
        8 => (slot(), select(vec!["ab\n", "12 ", "7", "-3.5e1,", "\n", "\0\r\n", "1e+ ."]), count).prop_map(|(slot, unit, count)| Operation::Write { slot, unit, count }),
        6 => (slot(), vec(format, 1..3)).prop_map(|(slot, formats)| Operation::Read { slot, formats }),
        4 => (slot(), select(vec!["set", "cur", "end"]), offset).prop_map(|(slot, whence, offset)| Operation::Seek { slot, whence, offset }),
        1 => slot().prop_map(|slot| Operation::Flush { slot }),
        1 => slot().prop_map(|slot| Operation::Close { slot }),
        1 => name().prop_map(|name| Operation::Remove { name }),
        1 => Just(Operation::List {}),
        1 => Just(Operation::Spin {}),
    ]
}

/// Where files are: in memory, or on the machine.
trait Disk {
    type File: Handle;
    fn exists(&self, name: &str) -> bool;
    fn open(&mut self, name: &str, mode: &str) -> Self::File;
    fn remove(&mut self, name: &str);
    fn all(&self) -> BTreeMap<String, Vec<u8>>;
}

trait Handle {
    fn length(&mut self) -> u64;
    fn rest(&mut self, position: u64) -> Vec<u8>;
    fn write(&mut self, position: u64, bytes: &[u8]);
}

#[derive(Default)]
struct Memory(BTreeMap<String, Rc<RefCell<Vec<u8>>>>);

impl Disk for Memory {
    type File = Rc<RefCell<Vec<u8>>>;

    fn exists(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn open(&mut self, name: &str, mode: &str) -> Self::File {
        let file = Rc::clone(self.0.entry(name.to_owned()).or_default());
        if mode.starts_with('w') {
            file.borrow_mut().clear();
        }
        file
    }

    fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    fn all(&self) -> BTreeMap<String, Vec<u8>> {
        self.0.iter().map(|(name, file)| (name.clone(), file.borrow().clone())).collect()
    }
}

impl Handle for Rc<RefCell<Vec<u8>>> {
    fn length(&mut self) -> u64 {
        self.borrow().len() as u64
    }

    fn rest(&mut self, position: u64) -> Vec<u8> {
        self.borrow().get(position as usize..).unwrap_or_default().to_vec()
    }

    fn write(&mut self, position: u64, bytes: &[u8]) {
        let (mut content, start) = (self.borrow_mut(), position as usize);
        let end = start + bytes.len();
        if content.len() < end {
            content.resize(end, 0);
        }
        content[start..end].copy_from_slice(bytes);
    }
}

struct Native(TempDir);

impl Native {
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

impl Disk for Native {
    type File = File;

    fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    fn open(&mut self, name: &str, mode: &str) -> File {
        let new = mode.starts_with(['w', 'a']);
        let options = OpenOptions::new().read(true).write(true).create(new).truncate(mode.starts_with('w')).clone();
        options.open(self.path(name)).expect("a file")
    }

    fn remove(&mut self, name: &str) {
        fs::remove_file(self.path(name)).expect("removed");
    }

    fn all(&self) -> BTreeMap<String, Vec<u8>> {
        contents(self.0.path())
    }
}

impl Handle for File {
    fn length(&mut self) -> u64 {
        self.metadata().expect("metadata").len()
    }

    fn rest(&mut self, position: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.seek(SeekFrom::Start(position)).expect("a position");
        self.read_to_end(&mut bytes).expect("bytes");
        bytes
    }

    fn write(&mut self, position: u64, bytes: &[u8]) {
        self.seek(SeekFrom::Start(position)).expect("a position");
        self.write_all(bytes).expect("written");
    }
}

fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read(&path).expect("a file"))).collect()
}

/// An open file of the reference: what Lua's handles do, on any disk.
struct Open<F> {
    file: F,
    name: &'static str,
    mode: &'static str,
    position: u64,
}

/// Lua's `io` as it should be: no buffers, one position a handle.
struct Reference<D: Disk> {
    disk: D,
    slots: [Option<Open<D::File>>; SLOTS],
    /// What was touched, and whether it was only appended to.
    touched: BTreeMap<String, bool>,
    max_bytes: u64,
    spent: u64,
}

type Answer = Result<Vec<Value>, String>;

impl<D: Disk> Reference<D> {
    fn new(disk: D, max_bytes: u64) -> Self {
        Self { disk, slots: Default::default(), touched: BTreeMap::new(), max_bytes, spent: 0 }
    }

    fn touch(&mut self, name: &str, append: bool) {
        *self.touched.entry(name.to_owned()).or_insert(true) &= append;
    }

    fn perform(&mut self, operation: &Operation) -> Answer {
        match operation {
            Operation::Open { slot, name, mode } => self.open(*slot, name, mode),
            Operation::Write { slot, unit, count } => self.write(*slot, &unit.repeat(*count)),
            Operation::Read { slot, formats } => self.read(*slot, formats),
            Operation::Seek { slot, whence, offset } => self.seek(*slot, whence, *offset),
            Operation::Flush { slot } => Ok(self.slots[slot - 1].iter().map(|_| json!("file")).collect()),
            Operation::Close { slot } => Ok(self.slots[slot - 1].take().iter().map(|_| json!(true)).collect()),
            Operation::Remove { name } => {
                if !self.disk.exists(name) {
                    return Err(format!("{name}: No such file or directory"));
                }
                self.disk.remove(name);
                self.touch(name, false);
                Ok(vec![json!(true)])
            }
            Operation::List {} => Ok(vec![json!(self.disk.all().into_keys().collect::<Vec<_>>().join(" "))]),
            Operation::Spin {} => Ok(vec![]),
        }
    }

    fn open(&mut self, slot: usize, name: &'static str, mode: &'static str) -> Answer {
        self.slots[slot - 1] = None;
        let exists = self.disk.exists(name);
        if mode.starts_with('r') && !exists {
            return Err(format!("{name}: No such file or directory"));
        }
        let mut file = self.disk.open(name, mode);
        if mode.starts_with('w') || !exists {
            self.touch(name, mode.starts_with('a'));
        }
        let position = if mode == "a" { file.length() } else { 0 };
        self.slots[slot - 1] = Some(Open { file, name, mode, position });
        Ok(vec![json!("file")])
    }

    fn write(&mut self, slot: usize, text: &str) -> Answer {
        let Some(open) = &mut self.slots[slot - 1] else { return Ok(vec![]) };
        if matches!(open.mode, "r" | "rb") {
            return Err(format!("{}: Bad file descriptor", open.name));
        }
        let append = open.mode.starts_with('a');
        let position = if append { open.file.length() } else { open.position };
        let cost = position.saturating_sub(open.file.length()) + text.len() as u64;
        if self.spent + cost > self.max_bytes {
            return Err(format!("I/O write limit exceeded ({} bytes)", self.max_bytes));
        }
        self.spent += cost;
        open.file.write(position, text.as_bytes());
        open.position = position + text.len() as u64;
        let name = open.name;
        // A file that was removed meanwhile is gone, whatever is written to it.
        self.touch(name, append);
        Ok(vec![json!("file")])
    }

    fn read(&mut self, slot: usize, formats: &[Format]) -> Answer {
        let Some(open) = &mut self.slots[slot - 1] else { return Ok(vec![]) };
        if matches!(open.mode, "w" | "a") {
            return Err(format!("{}: Bad file descriptor", open.name));
        }
        let mut values = Vec::new();
        for format in formats {
            let rest = open.file.rest(open.position);
            let (value, used) = take(format, &rest);
            open.position += used as u64;
            let end = value.is_none();
            values.push(value.unwrap_or_default());
            if end {
                break;
            }
        }
        Ok(values)
    }

    fn seek(&mut self, slot: usize, whence: &str, offset: i64) -> Answer {
        let Some(open) = &mut self.slots[slot - 1] else { return Ok(vec![]) };
        let base = match whence {
            "set" => 0,
            "cur" => open.position,
            _ => open.file.length(),
        };
        open.position = base.checked_add_signed(offset).ok_or(format!("{}: Invalid argument", open.name))?;
        Ok(vec![json!(open.position as f64)])
    }
}

/// What a format takes from the rest of a file, and how many bytes of it.
fn take(format: &Format, rest: &[u8]) -> (Option<Value>, usize) {
    let text = |bytes: &[u8], used| (Some(json!(brief(bytes))), used);
    match format {
        Format::Count(0) if !rest.is_empty() => text(b"", 0),
        Format::Name(name) if name.ends_with('a') => text(rest, rest.len()),
        Format::Name(name) if name.ends_with('n') => number(rest),
        _ if rest.is_empty() => (None, 0),
        Format::Count(count) => text(&rest[..rest.len().min(*count)], rest.len().min(*count)),
        Format::Name(name) => {
            let line = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let with_break = rest.len().min(line + 1);
            text(&rest[..if name.ends_with('L') { with_break } else { line }], with_break)
        }
    }
}

/// A decimal number, as C's `scanf` takes it; the tests have no others.
fn number(rest: &[u8]) -> (Option<Value>, usize) {
    let byte = |at: usize| rest.get(at).copied().unwrap_or_default();
    let digits = |mut at: usize| {
        while byte(at).is_ascii_digit() {
            at += 1;
        }
        at
    };
    let start = rest.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != 0x0b).unwrap_or(rest.len());
    let first = start + usize::from(matches!(byte(start), b'+' | b'-'));
    let mut mantissa = digits(first);
    if byte(mantissa) == b'.' {
        mantissa = digits(mantissa + 1);
    }
    if !rest[first..mantissa].iter().any(u8::is_ascii_digit) {
        return (None, mantissa);
    }
    let mut end = mantissa;
    let mut valid = mantissa;
    if matches!(byte(end), b'e' | b'E') {
        end += 1 + usize::from(matches!(byte(end + 1), b'+' | b'-'));
        let exponent = digits(end);
        valid = if exponent > end { exponent } else { mantissa };
        end = exponent;
    }
    let number: f64 = str::from_utf8(&rest[start..valid]).expect("ASCII").parse().expect("a number");
    if number.is_infinite() {
        return (Some(json!(number.to_string())), end);
    }
    (Some(json!(number)), end)
}

/// As in `scripts/io_driver.luau`.
fn brief(bytes: &[u8]) -> String {
    let text = str::from_utf8(bytes).expect("ASCII");
    if text.len() <= 64 {
        return text.to_owned();
    }
    let sum: u64 = bytes.iter().enumerate().step_by(61).map(|(at, byte)| u64::from(*byte) * ((at as u64 + 1) % 1000)).sum();
    format!("{} {} {} {sum}", text.len(), &text[..16], &text[text.len() - 16..])
}

fn answers<D: Disk>(reference: &mut Reference<D>, operations: &[Operation]) -> Vec<Value> {
    let answer = |operation| match reference.perform(operation) {
        Ok(values) => json!({ "ok": true, "values": values }),
        Err(message) => json!({ "ok": false, "values": [message] }),
    };
    operations.iter().map(answer).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn a_script_a_model_and_native_files_agree(operations in vec(operation(), 1..60), max_bytes in select(vec![50 << 20, 1000, 70_000, 300_000])) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let mut dir = IoDir::new();
        dir.io.max_bytes = max_bytes;
        let script = Script::new(include_str!("../scripts/io_driver.luau")).with_arguments([json!(operations).to_string()]);
        let mut limits = Limits::default();
        limits.result = 8 << 20;
        let run = runtime.block_on(engine().run(&script, dir.options().with_limits(limits))).expect("the run was made");
        let mut actual: Vec<Value> = run.outcome.decode().expect("answers");
        // JSON has several ways to write a number; all are doubles.
        for value in actual.iter_mut().flat_map(|answer| answer["values"].as_array_mut().into_iter().flatten()) {
            if let Some(number) = value.as_f64() {
                *value = json!(number);
            }
        }

        let mut model = Reference::new(Memory::default(), max_bytes);
        prop_assert_eq!(&actual, &answers(&mut model, &operations), "the model answers otherwise");
        let mut native = Reference::new(Native(TempDir::new().expect("a folder")), max_bytes);
        prop_assert_eq!(&actual, &answers(&mut native, &operations), "native files answer otherwise");

        prop_assert_eq!(run.receipt.bytes_written, model.spent);

        let on_disk = contents(&dir.path());
        prop_assert!(on_disk == model.disk.all(), "other contents than in the model");
        prop_assert!(on_disk == native.disk.all(), "other contents than in native files");

        let touched: Vec<_> = run.outcome.files_touched.iter().map(|file| (file.name.clone(), file.op, file.bytes, file.truncated)).collect();
        let expected: Vec<_> = model.touched.iter().map(|(name, append)| match on_disk.get(name) {
            None => (name.clone(), FileOperation::Remove, None, false),
            Some(content) => {
                let op = if *append { FileOperation::Append } else { FileOperation::Write };
                (name.clone(), op, Some(content.len() as u64), false)
            }
        }).collect();
        prop_assert_eq!(touched, expected);
    }
}
