//! Finds the sources of Luau in the package `luau0-src`, which has no API that returns their path.

use anyhow::{Context, Result, bail};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The directories of Luau that the guest needs. The code generator and the type checker are not among them.
const PARTS: [&str; 5] = ["Common", "Ast", "Bytecode", "Compiler", "VM"];

/// The files of Luau that are not compiled: `libc/clock.cpp` replaces a part of `lperf.cpp`, and the interpreter includes `lbuiltins.cpp`.
const NOT_COMPILED: [&str; 2] = ["lperf.cpp", "lbuiltins.cpp"];

/// The source tree of Luau.
pub struct Luau {
    root: PathBuf,
}

impl Luau {
    /// Finds the sources: `TOOLSCRIPT_LUAU`, the package that cargo resolved, or the registry directory of cargo.
    pub fn find() -> Result<Self> {
        println!("cargo::rerun-if-env-changed=TOOLSCRIPT_LUAU");
        let configured = env::var_os("TOOLSCRIPT_LUAU").map(PathBuf::from);
        if let Some(directory) = &configured {
            println!("cargo::rerun-if-changed={}", directory.display());
        }
        let root = configured.or_else(from_metadata).or_else(from_registry).context(
            "the sources of luau0-src are missing from the registry directory of cargo; run `cargo fetch`, or set TOOLSCRIPT_LUAU to the directory `luau` of the package",
        )?;
        if !root.join("VM/src/lvmexecute.cpp").is_file() {
            bail!(
                "{} does not contain the sources of Luau; unset TOOLSCRIPT_LUAU, or set it to the directory that contains VM/",
                root.display()
            );
        }
        Ok(Self { root })
    }

    /// Returns the release, which is part of the directory name: `luau0-src-0.22.0+luau735` contains 0.735.
    pub fn version(&self) -> String {
        let path = self.root.to_string_lossy();
        let number: Option<String> = path.split_once("+luau").map(|(_, rest)| rest.chars().take_while(char::is_ascii_digit).collect());
        number.map_or_else(|| "unknown".into(), |number| format!("0.{number}"))
    }

    /// Returns all source files, sorted by path.
    pub fn sources(&self) -> Result<Vec<PathBuf>> {
        let mut sources = Vec::new();
        for part in PARTS {
            for entry in fs::read_dir(self.root.join(part).join("src"))? {
                let path = entry?.path();
                let skipped = NOT_COMPILED.iter().any(|name| path.ends_with(name));
                if path.extension().is_some_and(|extension| extension == "cpp") && !skipped {
                    sources.push(path);
                }
            }
        }
        sources.sort();
        Ok(sources)
    }

    /// Returns the include directories.
    pub fn includes(&self) -> Vec<PathBuf> {
        PARTS.iter().map(|part| self.root.join(part).join("include")).chain([self.root.join("VM/src")]).collect()
    }
}

fn from_metadata() -> Option<PathBuf> {
    let output = Command::new(env::var_os("CARGO")?)
        .args(["metadata", "--format-version=1", "--offline", "--locked", "--filter-platform"])
        .arg(env::var("HOST").ok()?)
        .arg("--manifest-path")
        .arg(Path::new(&env::var_os("CARGO_MANIFEST_DIR")?).join("Cargo.toml"))
        .output()
        .ok()?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    let packages = metadata["packages"].as_array()?;
    let package = packages.iter().find(|package| package["name"] == "luau0-src")?;
    Some(Path::new(package["manifest_path"].as_str()?).with_file_name("luau"))
}

fn from_registry() -> Option<PathBuf> {
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".cargo")))?;
    let registries = fs::read_dir(cargo_home.join("registry/src")).ok()?;
    // The exact version in Cargo.toml.
    registries
        .flatten()
        .find_map(|registry| {
            let packages = fs::read_dir(registry.path()).ok()?;
            packages.flatten().find(|package| package.file_name().to_string_lossy().starts_with("luau0-src-0.22.0"))
        })
        .map(|package| package.path().join("luau"))
}
