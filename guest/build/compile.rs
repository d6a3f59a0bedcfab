//! Compiles Luau, the glue and the exception runtime with Zig, and links the core module.

use super::{luau::Luau, say, zig::Zig};
use anyhow::{Context, Result, bail};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
};

/// The target, and the exceptions that wasmtime knows: the standard form, with `exnref`.
const TARGET: &[&str] = &[
    "-target",
    "wasm32-wasi",
    "-mcpu=generic+exception_handling+bulk_memory+multivalue+reference_types+nontrapping_fptoint+sign_ext+mutable_globals",
    "-fexceptions",
    "-fwasm-exceptions",
    "-mllvm",
    "-wasm-enable-eh",
    "-mllvm",
    "-wasm-use-legacy-eh=false",
];

/// Luau and the glue. `LUAI_MAXCSTACK` is part of the value of `LUA_GLOBALSINDEX`: it must be the same in both.
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

/// Files of Luau's that get faster versions of what they ask of the C library.
const FAST_PATHS: [&str; 2] = ["lstrlib.cpp", "lobject.cpp"];

/// The C stack of the guest. Luau's own limits (200 C calls, 400 levels of nesting) must be reached before its end.
const STACK: usize = 1 << 20;

/// The memory of the command, which is its own host: 64 MiB as elsewhere, and what keeps the logs and the names of files. It is written
/// into the module, so that every engine holds it to that.
const COMMAND_MEMORY: usize = 68 << 20;

/// Who a translation unit is for.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// The box and the command.
    Both,
    /// The box, whose host implements the contract.
    Sandbox,
    /// The command, which implements the contract itself, on top of WASI.
    Command,
}

/// The directories with sources of the guest, except `wasi-command`.
const SOURCES: [(&str, Part); 7] = [
    ("runtime", Part::Both),
    ("memory", Part::Both),
    ("libc", Part::Both),
    ("lib", Part::Both),
    ("lib/io", Part::Both),
    ("lib/json", Part::Both),
    // The WASI command has no function providers.
    ("lib/sdk", Part::Sandbox),
];

/// A translation unit and the flags that only it gets.
struct Unit {
    source: PathBuf,
    flags: Vec<String>,
    part: Part,
}

/// Core modules, before their memory is filled.
pub struct Modules {
    /// The box: it imports the contract.
    pub sandbox: Vec<u8>,
    /// The box as a command: it imports WASI preview 1.
    pub command: Vec<u8>,
}

/// Compiles everything, and links the two modules.
pub fn core_modules(zig: &Zig, luau: &Luau, out: &Path) -> Result<Modules> {
    let objects = out.join("objects");
    fs::create_dir_all(&objects)?;
    let mut units = luau_units(luau)?;
    units.extend(glue_units(luau, out)?);
    units.extend(exception_units(zig));
    say(&format!("compiling Luau and the guest to wasm ({} files; half a minute the first time)", units.len()));
    let compiled = compile_all(zig, &units, &objects)?;
    say("linking the guest (the first time Zig builds its libc++: a minute)");
    let objects_of = |part: Part| {
        let pairs = units.iter().zip(&compiled);
        pairs.filter(|(unit, _)| [Part::Both, part].contains(&unit.part)).map(|(_, object)| object.clone()).collect::<Vec<_>>()
    };
    let maximum = format!("-Wl,--max-memory={COMMAND_MEMORY}");
    Ok(Modules {
        sandbox: link(zig, &objects_of(Part::Sandbox), &[], &out.join("sandbox-unprepared.wasm"))?,
        command: link(zig, &objects_of(Part::Command), &[maximum], &out.join("command-unprepared.wasm"))?,
    })
}

fn guest_folder() -> Result<PathBuf> {
    Ok(Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("guest"))
}

fn includes(luau: &Luau) -> Vec<String> {
    luau.includes().iter().map(|folder| format!("-I{}", folder.display())).collect()
}

fn luau_units(luau: &Luau) -> Result<Vec<Unit>> {
    let guest = guest_folder()?;
    let units = luau.sources()?.into_iter().map(|source| {
        let mut flags: Vec<String> = CXX.iter().map(ToString::to_string).chain(includes(luau)).collect();
        // Luau's interpreter loop: with fuel on, -O1 spills less and runs 5 to 8 % faster.
        if source.ends_with("lvmexecute.cpp") {
            flags.extend(["-Xclang".into(), "-O1".into()]);
        }
        if FAST_PATHS.iter().any(|name| source.ends_with(name)) {
            flags.extend(["-include".into(), guest.join("libc/fast_paths.h").display().to_string()]);
        }
        Unit { source, flags, part: Part::Both }
    });
    Ok(units.collect())
}

fn glue_units(luau: &Luau, out: &Path) -> Result<Vec<Unit>> {
    let guest = guest_folder()?;
    let bindings = format!("-I{}", out.display());
    let mut flags: Vec<String> = CXX.iter().map(ToString::to_string).chain(includes(luau)).collect();
    flags.extend([bindings.clone(), "-iquote".into(), guest.display().to_string()]);
    flags.extend(["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"].map(String::from));
    let mut units = Vec::new();
    for (directory, part) in SOURCES {
        for source in sources(&guest.join(directory))? {
            let is_assembly = source.extension().is_some_and(|extension| extension == "s");
            units.push(Unit { source, flags: if is_assembly { Vec::new() } else { flags.clone() }, part });
        }
    }
    flags.push(format!("-DTOOLSCRIPT_VERSION=\"{}\"", env::var("CARGO_PKG_VERSION")?));
    flags.push(format!("-DTOOLSCRIPT_MEMORY={COMMAND_MEMORY}"));
    units.extend(sources(&guest.join("wasi-command"))?.into_iter().map(|source| Unit {
        source,
        flags: flags.clone(),
        part: Part::Command,
    }));
    units.push(Unit { source: out.join("unprepared.c"), flags: vec!["-O2".into(), bindings], part: Part::Sandbox });
    Ok(units)
}

/// The sources in a folder, in name order.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut sources: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "cpp" || extension == "s"));
    sources.sort();
    Ok(sources)
}

/// Zig's libc++abi for WASI is built without exceptions: these three files of it add them.
fn exception_units(zig: &Zig) -> Vec<Unit> {
    let library = zig.library();
    let include = |folder: &str| format!("-I{}", library.join(folder).display());
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
        Unit { source: library.join("libcxxabi/src/cxa_exception.cpp"), flags: abi_flags.clone(), part: Part::Both },
        Unit { source: library.join("libcxxabi/src/cxa_personality.cpp"), flags: abi_flags, part: Part::Both },
        Unit {
            source: library.join("libunwind/src/Unwind-wasm.c"),
            flags: vec!["-O2".into(), "-DNDEBUG".into(), "-D_LIBUNWIND_HIDE_SYMBOLS".into(), include("libunwind/include")],
            part: Part::Both,
        },
    ]
}

/// Compiles on as many threads as cargo allows. Zig keeps a cache by content, so an unchanged file costs milliseconds.
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

fn link(zig: &Zig, objects: &[PathBuf], more: &[String], module: &Path) -> Result<Vec<u8>> {
    let mut command = zig.command("c++");
    command
        .args(TARGET)
        .args(["-O2", "-mexec-model=reactor", "-Wl,-s"])
        .arg(format!("-Wl,-z,stack-size={STACK}"))
        .args(more)
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
