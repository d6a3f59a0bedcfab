//! Builds the guest: compiles it to a core module, initializes it, wraps it as a component and compiles that to machine code.
//!
//! The steps are in `guest/build/`. `host/engine/image.rs` embeds the files that they write to `OUT_DIR`.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "a build script reads and writes files, and prints instructions for cargo"
)]

#[path = "host/engine/config.rs"]
mod config;
#[path = "guest/build/mod.rs"]
mod guest;

use anyhow::{Context, Result};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

fn main() {
    if let Err(error) = build() {
        eprintln!("\ncan't build the guest of toolscript: {error:#}\n");
        std::process::exit(1);
    }
}

fn build() -> Result<()> {
    for path in ["build.rs", "guest", "wit", "host/engine/config.rs"] {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::rerun-if-env-changed=TOOLSCRIPT_GUEST");
    println!("cargo::rerun-if-env-changed=DOCS_RS");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let image = out.join("guest.cwasm");

    let wit = guest::component::Wit::sandbox()?;
    let checker_wit = guest::component::Wit::checker()?;
    fs::write(out.join("toolscript.wit"), wit.text()?)?;
    fs::write(out.join("checker.wit"), checker_wit.text()?)?;
    let component = match env::var("TOOLSCRIPT_GUEST") {
        Ok(stub) if stub == "stub" => return write_stub(&out),
        _ if env::var_os("DOCS_RS").is_some() => return write_stub(&out),
        Ok(path) => {
            println!("cargo::rerun-if-changed={path}");
            // The given component is the sandbox only, without the WASI command and the checker.
            write_empty(&out, &["command.wasm", "command-core.wasm"])?;
            write_empty(&out, &CHECKER)?;
            fs::read(&path).with_context(|| format!("can't read {path}, the value of TOOLSCRIPT_GUEST; unset it to build the guest"))?
        }
        Err(_) => {
            let zig = guest::zig_toolchain::Zig::find_or_install()?;
            let luau = guest::luau_sources::Luau::find()?;
            wit.write_bindings(&out)?;
            checker_wit.write_bindings(&out)?;
            let modules = guest::compile::core_modules(&zig, &luau, &out, env::var_os("CARGO_FEATURE_CHECK").is_some())?;
            write_checker(&checker_wit, modules.checker.as_deref(), &luau.version(), &out)?;
            let command = guest::component::pre_initialize(&modules.command)?;
            fs::write(out.join("command.wasm"), guest::component::encode_command(&command, &luau.version())?)?;
            fs::write(out.join("command-core.wasm"), guest::component::add_metadata(&command, &luau.version())?)?;
            let sandbox = wit.encode(guest::component::pre_initialize(&modules.sandbox)?)?;
            guest::component::add_metadata(&sandbox, &luau.version())?
        }
    };
    // Exported by `toolscript component`, and accepted as `TOOLSCRIPT_GUEST`.
    fs::write(out.join("guest.wasm"), &component)?;
    fs::write(&image, guest::component::precompile(&component)?)?;
    write_hostile_guest(&wit, &out)
}

/// Writes the checker, as a component and as machine code. Without a module, the files are empty.
fn write_checker(wit: &guest::component::Wit, module: Option<&[u8]>, luau: &str, out: &Path) -> Result<()> {
    let Some(module) = module else { return write_empty(out, &CHECKER) };
    let component = guest::component::add_metadata(&wit.encode(guest::component::pre_initialize(module)?)?, luau)?;
    let [name, image] = CHECKER;
    fs::write(out.join(image), guest::component::precompile(&component)?)?;
    Ok(fs::write(out.join(name), component)?)
}

/// Writes the guest for the tests of the engine. A package from the registry has no tests.
fn write_hostile_guest(wit: &guest::component::Wit, out: &Path) -> Result<()> {
    if !Path::new("tests").exists() {
        return write_empty(out, &HOSTILE_GUEST);
    }
    let hostile = wit.hostile_guest()?;
    let component = wit.encode(hostile.module).context("generating the hostile guest")?;
    let [image, imports] = HOSTILE_GUEST;
    fs::write(out.join(image), guest::component::precompile(&component)?)?;
    fs::write(out.join(imports), hostile.imports)?;
    Ok(())
}

/// The checker as a component, and as machine code.
const CHECKER: [&str; 2] = ["checker.wasm", "checker.cwasm"];

/// The hostile guest, and the list of its imports.
const HOSTILE_GUEST: [&str; 2] = ["hostile_guest.cwasm", "hostile_guest.txt"];

/// Writes empty files instead of the guest.
fn write_stub(out: &Path) -> Result<()> {
    write_empty(out, &HOSTILE_GUEST)?;
    write_empty(out, &CHECKER)?;
    write_empty(out, &["guest.cwasm", "guest.wasm", "command.wasm", "command-core.wasm"])
}

fn write_empty(out: &Path, names: &[&str]) -> Result<()> {
    names.iter().try_for_each(|name| fs::write(out.join(name), []).with_context(|| format!("writing {name}")))
}
