//! Generates the hostile guest, with which the tests of the engine call every import with any values.
//!
//! The hostile guest implements the world `sandbox`, but its script is a list of instructions in machine words instead of Luau text. Its
//! imports are derived from the contract, so that a new import can be called without a change here. The program never contains it.

use anyhow::{Result, ensure};
use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, EntityType, ExportKind, ExportSection, Function, FunctionSection, GlobalSection, GlobalType,
    ImportSection, InstructionSink, MemArg, MemorySection, MemoryType, Module, TypeSection, ValType,
};
use wit_bindgen_core::wit_parser::{
    Resolve, TypeDefKind, WorldId, WorldItem,
    abi::{AbiVariant, WasmType},
};

/// Pages of memory at the start. Blocks for the host begin at [`HEAP`]; the memory below belongs to the instructions.
const PAGES: u64 = 32;
const HEAP: i32 = 1 << 20;

/// Zeros, which `cabi_realloc` passes as the arguments of a reentrant call.
const ZEROS: i32 = HEAP - (1 << 12);

/// A function that the guest imports, as a core function.
struct Import {
    interface: String,
    name: String,
    parameters: Vec<ValType>,
    result: Option<ValType>,
}

/// The hostile guest as a core module, and its imports in the order of their numbers: a line with the interface, the name and the types of
/// the parameters.
pub struct HostileGuest {
    pub module: Vec<u8>,
    pub imports: String,
}

/// Generates the guest for a world.
pub fn generate(resolve: &Resolve, world: WorldId) -> Result<HostileGuest> {
    let imports = imports(resolve, world);
    let run = match resolve.worlds[world].exports.values().next() {
        Some(WorldItem::Function(run)) => resolve.wasm_signature(AbiVariant::GuestExport, run),
        _ => anyhow::bail!("the world must export `run`"),
    };
    ensure!(run.params.len() > 1 && !run.indirect_params, "the script must be the first parameter of `run`");
    let text = imports.iter().map(|import| {
        let types: Vec<String> = import.parameters.iter().map(|parameter| format!("{parameter:?}").to_lowercase()).collect();
        format!("{} {} {}\n", import.interface, import.name, types.join(","))
    });
    let parameters: Vec<ValType> = run.params.iter().copied().map(core_type).collect();
    Ok(HostileGuest { imports: text.collect(), module: encode(&imports, &parameters) })
}

fn imports(resolve: &Resolve, world: WorldId) -> Vec<Import> {
    let mut imports = Vec::new();
    for (key, item) in &resolve.worlds[world].imports {
        let WorldItem::Interface { id, .. } = item else { continue };
        let interface = resolve.name_world_key(key);
        for function in resolve.interfaces[*id].functions.values() {
            let signature = resolve.wasm_signature(AbiVariant::GuestImport, function);
            imports.push(Import {
                interface: interface.clone(),
                name: function.name.clone(),
                parameters: signature.params.iter().copied().map(core_type).collect(),
                result: signature.results.first().copied().map(core_type),
            });
        }
        for (name, id) in &resolve.interfaces[*id].types {
            if matches!(resolve.types[*id].kind, TypeDefKind::Resource) {
                let name = format!("[resource-drop]{name}");
                imports.push(Import { interface: interface.clone(), name, parameters: vec![ValType::I32], result: None });
            }
        }
    }
    imports
}

fn core_type(kind: WasmType) -> ValType {
    match kind {
        WasmType::I32 | WasmType::Pointer | WasmType::Length => ValType::I32,
        WasmType::I64 | WasmType::PointerOrI64 => ValType::I64,
        WasmType::F32 => ValType::F32,
        WasmType::F64 => ValType::F64,
    }
}

/// The globals of the module.
const NEXT_BLOCK: u32 = 0;
const REALLOC_MODE: u32 = 1;
const REALLOC_ARGUMENT: u32 = 2;
const POST_RETURN_MODE: u32 = 3;
const LAST_RESULT: u32 = 4;

/// The functions of the module after its imports.
#[derive(Clone, Copy)]
struct Functions {
    argument: u32,
    call: u32,
    misbehave: u32,
    realloc: u32,
    run: u32,
    post_return: u32,
}

fn encode(imports: &[Import], run_parameters: &[ValType]) -> Vec<u8> {
    let (mut types, mut import_section, mut functions, mut code) =
        (TypeSection::new(), ImportSection::new(), FunctionSection::new(), CodeSection::new());
    for (index, import) in (0..).zip(imports) {
        types.ty().function(import.parameters.iter().copied(), import.result);
        import_section.import(&import.interface, &import.name, EntityType::Function(index));
    }
    let first = u32::try_from(imports.len()).unwrap_or(u32::MAX);
    let of =
        Functions { argument: first, call: first + 1, misbehave: first + 2, realloc: first + 3, run: first + 4, post_return: first + 5 };
    let mut define = |parameters: &[ValType], results: &[ValType], body: Function| {
        let index = types.len();
        types.ty().function(parameters.iter().copied(), results.iter().copied());
        functions.function(index);
        code.function(&body);
    };
    define(&[ValType::I32, ValType::I32], &[ValType::I64], argument());
    define(&[ValType::I32; 3], &[], call(imports, of));
    define(&[ValType::I32, ValType::I32], &[], misbehave(of));
    define(&[ValType::I32; 4], &[ValType::I32], realloc(of));
    define(run_parameters, &[ValType::I32], run(run_parameters, of));
    define(&[ValType::I32], &[], post_return(of));

    let mut globals = GlobalSection::new();
    for value in [HEAP, 0, 0, 0] {
        globals.global(GlobalType { val_type: ValType::I32, mutable: true, shared: false }, &ConstExpr::i32_const(value));
    }
    globals.global(GlobalType { val_type: ValType::I64, mutable: true, shared: false }, &ConstExpr::i64_const(0));
    let mut memories = MemorySection::new();
    memories.memory(MemoryType { minimum: PAGES, maximum: None, memory64: false, shared: false, page_size_log2: None });
    let mut exports = ExportSection::new();
    exports
        .export("memory", ExportKind::Memory, 0)
        .export("cabi_realloc", ExportKind::Func, of.realloc)
        .export("run", ExportKind::Func, of.run)
        .export("cabi_post_run", ExportKind::Func, of.post_return);
    let mut module = Module::new();
    module
        .section(&types)
        .section(&import_section)
        .section(&functions)
        .section(&memories)
        .section(&globals)
        .section(&exports)
        .section(&code);
    module.finish()
}

fn at(offset: u64) -> MemArg {
    MemArg { offset, align: 0, memory_index: 0 }
}

/// `argument(word, is_indirect)`: the value of a word, or the 32 bits at the address that is in it.
fn argument() -> Function {
    let mut function = Function::new([]);
    let mut body = function.instructions();
    body.local_get(1).if_(BlockType::Result(ValType::I64));
    body.local_get(0).i64_load(at(0)).i32_wrap_i64().i64_load32_u(at(0));
    body.else_().local_get(0).i64_load(at(0)).end().end();
    function
}

/// `call(import, words, indirect)`: calls an import with one word per parameter. Bit `n` of `indirect` makes the parameter `n` indirect.
fn call(imports: &[Import], of: Functions) -> Function {
    let mut function = Function::new([]);
    let mut body = function.instructions();
    let count = u32::try_from(imports.len()).unwrap_or(u32::MAX);
    for _ in 0..=count {
        body.block(BlockType::Empty);
    }
    body.local_get(0).br_table((0..count).collect::<Vec<_>>(), count);
    for (index, import) in (0..).zip(imports) {
        body.end();
        for (position, parameter) in (0..).zip(&import.parameters) {
            body.local_get(1).i32_const(position * 8).i32_add();
            body.local_get(2).i32_const(1 << position).i32_and();
            body.call(of.argument);
            from_word(&mut body, *parameter);
        }
        body.call(index);
        if let Some(result) = import.result {
            to_word(&mut body, result);
            body.global_set(LAST_RESULT);
        }
        body.return_();
    }
    body.end().unreachable().end();
    function
}

fn from_word(body: &mut InstructionSink<'_>, kind: ValType) {
    match kind {
        ValType::I32 => body.i32_wrap_i64(),
        ValType::F32 => body.i32_wrap_i64().f32_reinterpret_i32(),
        ValType::F64 => body.f64_reinterpret_i64(),
        _ => body,
    };
}

fn to_word(body: &mut InstructionSink<'_>, kind: ValType) {
    match kind {
        ValType::I32 => body.i64_extend_i32_u(),
        ValType::F32 => body.i32_reinterpret_f32().i64_extend_i32_u(),
        ValType::F64 => body.i64_reinterpret_f64(),
        _ => body,
    };
}

/// `misbehave(mode, argument)`: 1 traps, 2 never returns, 3 overflows the stack, 4 calls the import `argument`, 5 grows the memory.
fn misbehave(of: Functions) -> Function {
    let mut function = Function::new([]);
    let mut body = function.instructions();
    let case = |body: &mut InstructionSink<'_>, mode: i32| {
        body.local_get(0).i32_const(mode).i32_eq().if_(BlockType::Empty);
    };
    case(&mut body, 1);
    body.unreachable().end();
    case(&mut body, 2);
    body.loop_(BlockType::Empty).br(0).end().end();
    case(&mut body, 3);
    // The global is written after the call, so that the call is no tail call.
    body.local_get(0).local_get(1).call(of.misbehave).i64_const(1).global_set(LAST_RESULT).end();
    case(&mut body, 4);
    body.local_get(1).i32_const(ZEROS).i32_const(0).call(of.call).end();
    case(&mut body, 5);
    body.local_get(1).memory_grow(0).drop().end();
    body.end();
    function
}

/// `cabi_realloc`: takes the next block, or misbehaves. From mode 16 on, it returns the argument as the address.
fn realloc(of: Functions) -> Function {
    let mut function = Function::new([(1, ValType::I32)]);
    let mut body = function.instructions();
    let (alignment, size, block) = (2, 3, 4);
    body.global_get(REALLOC_MODE).i32_const(16).i32_ge_u().if_(BlockType::Empty);
    body.global_get(REALLOC_ARGUMENT).return_().end();
    body.global_get(REALLOC_MODE).global_get(REALLOC_ARGUMENT).call(of.misbehave);
    // block = (next_block + alignment - 1) & -alignment
    body.global_get(NEXT_BLOCK).local_get(alignment).i32_add().i32_const(1).i32_sub();
    body.i32_const(0).local_get(alignment).i32_sub().i32_and().local_tee(block);
    body.local_get(size).i32_add().global_set(NEXT_BLOCK);
    // Grows the memory if the block does not fit.
    body.global_get(NEXT_BLOCK).memory_size(0).i32_const(16).i32_shl().i32_gt_u().if_(BlockType::Empty);
    body.local_get(size).i32_const(16).i32_shr_u().i32_const(1).i32_add().memory_grow(0).drop().end();
    body.local_get(block).end();
    function
}

fn post_return(of: Functions) -> Function {
    let mut function = Function::new([]);
    function.instructions().global_get(POST_RETURN_MODE).i32_const(0).call(of.misbehave).end();
    function
}

/// Executes the instructions of the script. Each is a word with its number, followed by its operands:
///
/// | number | operands | effect |
/// |---|---|---|
/// | 0 | `pointer` | returns the pointer to the result |
/// | 1 | `address`, `size`, bytes padded to words | stores bytes |
/// | 2 | `import`, `indirect`, `count`, a word per parameter | calls an import with `count` parameters |
/// | 3 | `address` | stores the result of the last call |
/// | 4 | `destination`, `source`, `size` | copies bytes |
/// | 5 | `counter`, `offset` | decrements the 32 bits at `counter`, and continues at `offset` in the script unless they are 0 |
/// | 6 | `realloc_mode`, `realloc_argument`, `post_return_mode` | makes the functions that the host calls misbehave |
/// | 7 | `mode`, `argument` | misbehaves now |
fn run(parameters: &[ValType], of: Functions) -> Function {
    const WORD: i32 = 8;
    let mut function = Function::new([(1, ValType::I32)]);
    let program_counter = u32::try_from(parameters.len()).unwrap_or(u32::MAX);
    let mut body = function.instructions();
    // Pushes an operand as 32 bits.
    let operand = |body: &mut InstructionSink<'_>, number: u64| {
        body.local_get(program_counter).i64_load(at(number * 8)).i32_wrap_i64();
    };
    // Continues after an instruction of this many words. `depth` is the number of blocks around it.
    let advance = |body: &mut InstructionSink<'_>, words: i32, depth: u32| {
        body.local_get(program_counter).i32_const(words * WORD).i32_add().local_set(program_counter).br(depth);
    };
    const COUNT: u32 = 8;
    body.local_get(0).local_set(program_counter);
    body.loop_(BlockType::Empty);
    for _ in 0..=COUNT {
        body.block(BlockType::Empty);
    }
    operand(&mut body, 0);
    body.br_table((0..COUNT).collect::<Vec<_>>(), COUNT);

    body.end();
    operand(&mut body, 1);
    body.return_();

    body.end();
    operand(&mut body, 1);
    body.local_get(program_counter).i32_const(3 * WORD).i32_add();
    operand(&mut body, 2);
    body.memory_copy(0, 0);
    // Skips the bytes and their padding.
    body.local_get(program_counter);
    operand(&mut body, 2);
    body.i32_const(WORD - 1).i32_add().i32_const(-WORD).i32_and().i32_add().local_set(program_counter);
    advance(&mut body, 3, COUNT - 1);

    body.end();
    operand(&mut body, 1);
    body.local_get(program_counter).i32_const(4 * WORD).i32_add();
    operand(&mut body, 2);
    body.call(of.call);
    body.local_get(program_counter);
    operand(&mut body, 3);
    body.i32_const(3).i32_shl().i32_add().local_set(program_counter);
    advance(&mut body, 4, COUNT - 2);

    body.end();
    operand(&mut body, 1);
    body.global_get(LAST_RESULT).i64_store(at(0));
    advance(&mut body, 2, COUNT - 3);

    body.end();
    for number in 1..=3 {
        operand(&mut body, number);
    }
    body.memory_copy(0, 0);
    advance(&mut body, 4, COUNT - 4);

    body.end();
    operand(&mut body, 1);
    operand(&mut body, 1);
    body.i32_load(at(0)).i32_const(1).i32_sub().i32_store(at(0));
    operand(&mut body, 1);
    body.i32_load(at(0)).if_(BlockType::Empty);
    body.local_get(0);
    operand(&mut body, 2);
    body.i32_add().local_set(program_counter).br(COUNT - 5 + 1).end();
    advance(&mut body, 3, COUNT - 5);

    body.end();
    for (number, global) in [(1, REALLOC_MODE), (2, REALLOC_ARGUMENT), (3, POST_RETURN_MODE)] {
        operand(&mut body, number);
        body.global_set(global);
    }
    advance(&mut body, 4, COUNT - 6);

    body.end();
    operand(&mut body, 1);
    operand(&mut body, 2);
    body.call(of.misbehave);
    advance(&mut body, 3, COUNT - 7);

    body.end().unreachable().end().unreachable().end();
    function
}
