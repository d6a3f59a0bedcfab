//! Compiles Luau, the guest and the exception runtime with Zig, and links the core modules.

use super::{luau_changes, luau_sources::Luau, report_progress, zig_toolchain::Zig};
use anyhow::{Context, Result, bail};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
};

/// The target, with the standard form of exceptions (`exnref`), which wasmtime supports. The compiler does not use bulk memory operators, but
/// calls functions such as `memcpy`, which are in `libc/copy.cpp`.
const TARGET: &[&str] = &[
    "-target",
    "wasm32-wasi",
    "-mcpu=generic+exception_handling-bulk_memory-bulk_memory_opt+multivalue+reference_types+nontrapping_fptoint+sign_ext+mutable_globals",
    "-fexceptions",
    "-fwasm-exceptions",
    "-mllvm",
    "-wasm-enable-eh",
    "-mllvm",
    "-wasm-use-legacy-eh=false",
];

/// The flag for assembly files, which use bulk memory operators.
const ASSEMBLY: &str = "-mcpu=generic+exception_handling+bulk_memory";

/// The flags for Luau and the guest. `LUAI_MAXCSTACK` is part of `LUA_GLOBALSINDEX`, so it must be the same in both.
const CXX: &[&str] = &[
    "-std=c++20",
    "-O2",
    "-DNDEBUG",
    "-fno-math-errno",
    "-DLUA_API=extern \"C\"",
    "-DLUACODE_API=extern \"C\"",
    "-DLUAI_MAXCSTACK=100000",
    "-D_WASI_EMULATED_PROCESS_CLOCKS",
];

/// The files of Luau that use the faster versions of C library functions in `libc/fast_paths.h`.
const FAST_PATHS: [&str; 2] = ["lstrlib.cpp", "lobject.cpp"];

/// The functions of `ldebug.cpp` that `runtime/type_errors.cpp` and `runtime/frames.cpp` replace. The originals get another name.
const REPLACED: [&str; 8] = [
    "luaG_typeerrorL",
    "luaG_forerrorL",
    "luaG_concaterror",
    "luaG_aritherror",
    "luaG_ordererror",
    "luaG_indexerror",
    "luaG_methoderror",
    "lua_getinfo",
];

/// The functions of `laux.cpp` that `lib/error_value.cpp` replaces, and their new names.
const RENAMED: [&str; 2] = ["-DluaL_checklstring=luau_checklstring", "-DluaL_optlstring=luau_optlstring"];

/// The functions of `lobject.cpp` that `lib/to_number.cpp` replaces, and their new names.
const RENAMED_CONVERSIONS: [&str; 2] = ["-DluaO_str2d=luau_str2d", "-DluaO_str2l=luau_str2l"];

/// The size of the C stack. Luau must reach its own limits (200 C calls, 400 levels of nesting) before the stack overflows.
const STACK_SIZE: usize = 1 << 20;

/// The memory limit of the WASI command: 64 MiB as in other hosts, and 4 MiB for log lines and file names, as the command is its own host. The
/// module declares this limit, so that every engine enforces it.
const COMMAND_MEMORY: usize = 68 << 20;

/// A module that contains a translation unit.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// The sandbox, whose host implements the contract.
    Sandbox,
    /// The WASI command, which implements the contract itself.
    Command,
    /// The checker, which has only the parser of Luau.
    Checker,
}

/// The parts that run scripts.
const RUNTIMES: &[Part] = &[Part::Sandbox, Part::Command];

/// All parts.
const ALL: &[Part] = &[Part::Sandbox, Part::Command, Part::Checker];

/// The directories with sources of the guest, except `wasi-command`.
const SOURCES: [(&str, &[Part]); 8] = [
    ("runtime", RUNTIMES),
    ("memory", RUNTIMES),
    ("libc", RUNTIMES),
    ("lib", RUNTIMES),
    ("lib/io", RUNTIMES),
    ("lib/json", RUNTIMES),
    // The WASI command has no function providers.
    ("lib/sdk", &[Part::Sandbox]),
    ("checker", &[Part::Checker]),
];

/// The files of the other directories that the checker needs, too.
const SHARED_WITH_CHECKER: [&str; 9] = [
    "runtime/hint_table.cpp",
    "runtime/source_position.cpp",
    "memory/heap.cpp",
    "memory/operator_new.cpp",
    "libc/copy.cpp",
    "libc/copy_block.s",
    "libc/exception_tag.s",
    "libc/strtoull.cpp",
    "libc/wasi_stubs.cpp",
];

/// The directories of Luau with the parser.
const PARSER: [&str; 2] = ["Ast/src", "Common/src"];

/// A translation unit and its compiler flags.
struct Unit {
    source: PathBuf,
    flags: Vec<String>,
    parts: &'static [Part],
}

/// The core modules, before initialization.
pub struct Modules {
    /// The sandbox, which imports the contract.
    pub sandbox: Vec<u8>,
    /// The WASI command, which imports WASI preview 1.
    pub command: Vec<u8>,
    /// The checker, which imports nothing. `None` without the feature `check`.
    pub checker: Option<Vec<u8>>,
}

/// Compiles all units and links both modules.
pub fn core_modules(zig: &Zig, luau: &Luau, out: &Path, with_checker: bool) -> Result<Modules> {
    let objects = out.join("objects");
    fs::create_dir_all(&objects)?;
    let mut units = luau_units(luau, out)?;
    units.extend(guest_units(luau, out)?);
    units.extend(exception_units(zig));
    units.extend(math_units(zig)?);
    if with_checker {
        write_checker_definitions(out)?;
    } else {
        units.retain(|unit| unit.parts != [Part::Checker]);
    }
    report_progress(&format!("compiling Luau and the guest to wasm ({} files; half a minute the first time)", units.len()));
    let compiled = compile_all(zig, &units, &objects)?;
    report_progress("linking the guest (Zig builds its libc++ the first time: a minute)");
    let objects_of = |part: Part| {
        let pairs = units.iter().zip(&compiled);
        pairs.filter(|(unit, _)| unit.parts.contains(&part)).map(|(_, object)| object.clone()).collect::<Vec<_>>()
    };
    let maximum = format!("-Wl,--max-memory={COMMAND_MEMORY}");
    Ok(Modules {
        sandbox: link(zig, &objects_of(Part::Sandbox), &[], &out.join("sandbox-uninitialized.wasm"))?,
        command: link(zig, &objects_of(Part::Command), &[maximum], &out.join("command-uninitialized.wasm"))?,
        checker: if with_checker {
            Some(link(zig, &objects_of(Part::Checker), &[], &out.join("checker-uninitialized.wasm"))?)
        } else {
            None
        },
    })
}

/// Writes the definitions of the built-in globals as a header, which the checker reads before its memory is stored.
fn write_checker_definitions(out: &Path) -> Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let mut header = String::new();
    for path in ["guest/lib/standard.d.luau", "guest/lib/globals.d.luau"] {
        let text = fs::read_to_string(root.join(path)).with_context(|| format!("reading {path}"))?;
        header.push_str(&format!("R\"definitions(\n{text})definitions\",\n"));
    }
    Ok(fs::write(out.join("checker_definitions.inc"), header)?)
}

fn guest_directory() -> Result<PathBuf> {
    Ok(Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("guest"))
}

fn includes(luau: &Luau) -> Vec<String> {
    luau.includes().iter().map(|directory| format!("-I{}", directory.display())).collect()
}

fn luau_units(luau: &Luau, out: &Path) -> Result<Vec<Unit>> {
    let guest = guest_directory()?;
    let units = luau.sources()?.into_iter().map(|mut source| {
        let mut flags: Vec<String> = CXX.iter().map(ToString::to_string).chain(includes(luau)).collect();
        if source.ends_with("lvmexecute.cpp") {
            flags.extend(["-iquote".into(), guest.display().to_string()]);
        }
        if FAST_PATHS.iter().any(|name| source.ends_with(name)) {
            flags.extend(["-iquote".into(), guest.display().to_string()]);
            flags.extend(["-include".into(), guest.join("libc/fast_paths.h").display().to_string()]);
        }
        if source.ends_with("ldebug.cpp") {
            flags.extend(REPLACED.iter().map(|name| format!("-D{name}=replaced_{name}")));
        }
        if source.ends_with("Compiler/src/Compiler.cpp") {
            flags.extend(["-include".into(), guest.join("runtime/inline_mark.h").display().to_string()]);
        }
        if source.ends_with("laux.cpp") {
            flags.extend(RENAMED.map(String::from));
        }
        if source.ends_with("lobject.cpp") {
            flags.extend(RENAMED_CONVERSIONS.map(String::from));
        }
        if source.ends_with("lbaselib.cpp") {
            flags.extend(["-include".into(), guest.join("lib/to_number.h").display().to_string()]);
        }
        let is_parser = source.parent().is_some_and(|directory| PARSER.iter().any(|parser| directory.ends_with(parser)));
        if let Some(copy) = luau_changes::apply(&source, out)? {
            flags.extend(source.parent().map(|directory| format!("-I{}", directory.display())));
            source = copy;
        }
        Ok(Unit { source, flags, parts: if is_parser { ALL } else { RUNTIMES } })
    });
    units.collect()
}

fn guest_units(luau: &Luau, out: &Path) -> Result<Vec<Unit>> {
    let guest = guest_directory()?;
    let bindings = format!("-I{}", out.display());
    let mut flags: Vec<String> = CXX.iter().map(ToString::to_string).chain(includes(luau)).collect();
    flags.extend([bindings.clone(), "-iquote".into(), guest.display().to_string()]);
    flags.extend(["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"].map(String::from));
    let mut units = Vec::new();
    for (directory, parts) in SOURCES {
        for source in sources(&guest.join(directory))? {
            let is_assembly = source.extension().is_some_and(|extension| extension == "s");
            let is_shared = SHARED_WITH_CHECKER.iter().any(|shared| source.ends_with(shared));
            let mut flags = if is_assembly { vec![ASSEMBLY.to_string()] } else { flags.clone() };
            // The compiler must not replace the loops of `memset` with a call of it.
            if source.ends_with("libc/copy.cpp") {
                flags.push("-fno-builtin".into());
            }
            units.push(Unit { source, flags, parts: if is_shared { ALL } else { parts } });
        }
    }
    flags.push(format!("-DTOOLSCRIPT_VERSION=\"{}\"", env::var("CARGO_PKG_VERSION")?));
    flags.push(format!("-DTOOLSCRIPT_MEMORY={COMMAND_MEMORY}"));
    units.extend(sources(&guest.join("wasi-command"))?.into_iter().map(|source| Unit {
        source,
        flags: flags.clone(),
        parts: &[Part::Command],
    }));
    units.push(Unit { source: out.join("guest.c"), flags: vec!["-O2".into(), bindings.clone()], parts: &[Part::Sandbox] });
    units.push(Unit { source: out.join("checker_guest.c"), flags: vec!["-O2".into(), bindings], parts: &[Part::Checker] });
    Ok(units)
}

/// Returns the source files in a directory, sorted by name.
fn sources(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut sources: Vec<PathBuf> = fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "cpp" || extension == "s"));
    sources.sort();
    Ok(sources)
}

/// Adds exceptions to the C++ runtime. Zig builds libc++abi for WASI without these files.
fn exception_units(zig: &Zig) -> Vec<Unit> {
    let library = zig.library();
    let include = |directory: &str| format!("-I{}", library.join(directory).display());
    let abi_flags: Vec<String> = [
        "-std=c++23",
        "-O2",
        "-DNDEBUG",
        "-DLIBCXXABI_ENABLE_EXCEPTIONS",
        "-D_LIBCXXABI_BUILDING_LIBRARY",
        "-D_LIBCPP_BUILDING_LIBRARY",
        "-D_LIBCXXABI_HAS_NO_THREADS",
    ]
    .map(String::from)
    .into_iter()
    .chain(["libcxxabi/include", "libcxx/include", "libcxx/src", "libunwind/include"].map(include))
    .collect();
    vec![
        Unit { source: library.join("libcxxabi/src/cxa_exception.cpp"), flags: abi_flags.clone(), parts: ALL },
        Unit { source: library.join("libcxxabi/src/cxa_personality.cpp"), flags: abi_flags, parts: ALL },
        Unit {
            source: library.join("libunwind/src/Unwind-wasm.c"),
            flags: vec!["-O2".into(), "-DNDEBUG".into(), "-D_LIBUNWIND_HIDE_SYMBOLS".into(), include("libunwind/include")],
            parts: ALL,
        },
    ]
}

/// Replaces some mathematical functions of Zig. The files include sources of musl, which are part of Zig.
fn math_units(zig: &Zig) -> Result<Vec<Unit>> {
    let musl = zig.library().join("libc/musl");
    let mut flags: Vec<String> = ["-O2", "-DNDEBUG", "-fno-math-errno", "-Dhidden="].map(String::from).to_vec();
    flags.extend(["src/math", "src/internal", "arch/generic"].map(|directory| format!("-I{}", musl.join(directory).display())));
    let guest = guest_directory()?;
    let sources = ["exponential.c", "trigonometry.c"].map(|name| guest.join("libc").join(name));
    Ok(sources.map(|source| Unit { source, flags: flags.clone(), parts: RUNTIMES }).into())
}

/// Compiles on as many threads as cargo allows. Zig caches by content, so an unchanged file takes milliseconds.
fn compile_all(zig: &Zig, units: &[Unit], objects: &Path) -> Result<Vec<PathBuf>> {
    let outputs: Vec<PathBuf> = units
        .iter()
        .enumerate()
        .map(|(index, unit)| objects.join(format!("{index:03}-{}.o", unit.source.file_stem().unwrap_or_default().display())))
        .collect();
    let jobs: usize = env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(2);
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((unit, output)) = units.get(index).zip(outputs.get(index)) else { return Ok(()) };
            compile(zig, unit, output)?;
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|_| bail!("a compile thread panicked")))
    })?;
    Ok(outputs)
}

fn compile(zig: &Zig, unit: &Unit, output: &Path) -> Result<()> {
    let is_cxx = unit.source.extension().is_some_and(|extension| extension == "cpp");
    let mut command = zig.command(if is_cxx { "c++" } else { "cc" });
    command.args(TARGET).args(&unit.flags).arg("-c").arg(&unit.source).arg("-o").arg(output);
    check(&mut command).with_context(|| format!("compiling {}", unit.source.display()))
}

fn link(zig: &Zig, objects: &[PathBuf], flags: &[String], module: &Path) -> Result<Vec<u8>> {
    let mut command = zig.command("c++");
    command
        .args(TARGET)
        .args(["-O2", "-mexec-model=reactor", "-Wl,-s"])
        .arg(format!("-Wl,-z,stack-size={STACK_SIZE}"))
        .args(flags)
        .args(objects)
        .arg("-o")
        .arg(module);
    check(&mut command).context("linking the guest")?;
    Ok(fs::read(module)?)
}

fn check(command: &mut Command) -> Result<()> {
    let output = command.output().context("starting Zig")?;
    if !output.status.success() {
        bail!("Zig failed:\n{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
