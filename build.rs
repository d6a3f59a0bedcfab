//! Builds the guest: Luau and its glue to a core module, to a pre-initialised component, to machine code.
//!
//! The steps are in `guest/build/`; what they leave in `OUT_DIR` is embedded by `host/engine/image.rs`.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "a build script reads and writes files, and talks to cargo by printing"
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
        eprintln!("\ntoolscript can't build its guest: {error:#}\n");
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

    let wit = guest::component::Wit::parse("wit")?;
    fs::write(out.join("toolscript.wit"), wit.text()?)?;
    let component = match env::var("TOOLSCRIPT_GUEST") {
        Ok(stub) if stub == "stub" => return write_stub(&out),
        _ if env::var_os("DOCS_RS").is_some() => return write_stub(&out),
        Ok(path) => {
            println!("cargo::rerun-if-changed={path}");
            // What was given is the box for hosts of our contract.
            write_empty(&out, &["command.wasm", "command-core.wasm"])?;
            fs::read(&path).with_context(|| format!("TOOLSCRIPT_GUEST is {path}, which can't be read; unset it to build the guest"))?
        }
        Err(_) => {
            let zig = guest::zig::Zig::find_or_fetch()?;
            let luau = guest::luau::Luau::find()?;
            wit.write_bindings(&out)?;
            let modules = guest::compile::core_modules(&zig, &luau, &out)?;
            let command = guest::component::pre_initialise(&modules.command)?;
            fs::write(out.join("command.wasm"), guest::component::encode_command(&command, &luau.version())?)?;
            fs::write(out.join("command-core.wasm"), guest::component::describe(&command, &luau.version())?)?;
            wit.encode(guest::component::pre_initialise(&modules.sandbox)?, &luau.version())?
        }
    };
    // For those who want the component itself; `TOOLSCRIPT_GUEST` takes it.
    fs::write(out.join("guest.wasm"), &component)?;
    fs::write(&image, guest::component::precompile(&component)?)?;
    Ok(())
}

/// Empty files in place of the guest.
fn write_stub(out: &Path) -> Result<()> {
    write_empty(out, &["guest.cwasm", "guest.wasm", "command.wasm", "command-core.wasm"])
}

fn write_empty(out: &Path, names: &[&str]) -> Result<()> {
    names.iter().try_for_each(|name| fs::write(out.join(name), []).with_context(|| format!("writing {name}")))
}
