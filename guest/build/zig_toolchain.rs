//! Finds the pinned version of Zig, or installs it with pip into a cache directory that survives `cargo clean`.

use crate::guest::report_progress;
use anyhow::{Context, Result, bail, ensure};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The version in `zig-requirements.txt`. The flags in `compile.rs` are chosen for it.
const VERSION: &str = "0.17.0";

/// A Zig executable that runs on this machine.
pub struct Zig {
    command: Vec<PathBuf>,
    cache: PathBuf,
    library: PathBuf,
}

impl Zig {
    /// Finds Zig: `TOOLSCRIPT_ZIG`, then `zig` or `python3 -m ziglang` of the pinned version. Installs the wheel if there is none.
    pub fn find_or_install() -> Result<Self> {
        println!("cargo::rerun-if-env-changed=TOOLSCRIPT_ZIG");
        println!("cargo::rerun-if-env-changed=TOOLSCRIPT_CACHE");
        let cache = cache_directory()?;
        if let Some(path) = env::var_os("TOOLSCRIPT_ZIG") {
            let command = vec![PathBuf::from(&path)];
            let version = version(&command).with_context(|| {
                format!("TOOLSCRIPT_ZIG is {}, which does not run; unset it, or set it to the executable of Zig {VERSION}", path.display())
            })?;
            if version != VERSION {
                println!("cargo::warning=TOOLSCRIPT_ZIG is Zig {version}, but the guest is only tested with {VERSION}");
            }
            return Self::new(command, cache);
        }
        let installed = cache.join(format!("ziglang-{VERSION}"));
        let candidates =
            [vec![PathBuf::from("zig")], vec![PathBuf::from("python3"), "-m".into(), "ziglang".into()], vec![executable(&installed)]];
        for command in candidates {
            if version(&command).is_ok_and(|version| version == VERSION) {
                return Self::new(command, cache);
            }
        }
        install(&installed)?;
        Self::new(vec![executable(&installed)], cache)
    }

    fn new(command: Vec<PathBuf>, cache: PathBuf) -> Result<Self> {
        let mut zig = Self { command, cache, library: PathBuf::new() };
        let output = zig.command("env").output().context("running `zig env`")?;
        let text = String::from_utf8_lossy(&output.stdout);
        // `zig env` prints ZON, such as `.lib_dir = "…",`.
        let library = text.lines().find_map(|line| line.trim().strip_prefix(".lib_dir = \"")?.strip_suffix("\","));
        zig.library = library.context("`zig env` prints no library directory")?.into();
        Ok(zig)
    }

    /// Returns the command `zig SUBCOMMAND`, with its caches outside the target directory.
    pub fn command(&self, subcommand: &str) -> Command {
        let mut command = Command::new(&self.command[0]);
        command
            .args(&self.command[1..])
            .arg(subcommand)
            .env("ZIG_GLOBAL_CACHE_DIR", self.cache.join("zig"))
            .env("ZIG_LOCAL_CACHE_DIR", self.cache.join("zig"));
        command
    }

    /// Returns the directory that contains the sources of libc++abi and libunwind.
    pub fn library(&self) -> &Path {
        &self.library
    }
}

fn version(command: &[PathBuf]) -> Result<String> {
    let output = Command::new(&command[0]).args(&command[1..]).arg("version").output()?;
    ensure!(output.status.success(), "`zig version` failed");
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn executable(directory: &Path) -> PathBuf {
    directory.join("ziglang").join(format!("zig{}", env::consts::EXE_SUFFIX))
}

/// Installs into a temporary directory and renames it, so that an interrupted build leaves no partial installation.
fn install(directory: &Path) -> Result<()> {
    report_progress(&format!("installing Zig {VERSION} with pip (100 MB, once)"));
    let requirements = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("guest/build/zig-requirements.txt");
    let partial = directory.with_extension(format!("partial-{}", std::process::id()));
    let output = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes", "--target"])
        .arg(&partial)
        .arg("-r")
        .arg(&requirements)
        .output()
        .context("can't run python3: install Python 3 with pip, or set TOOLSCRIPT_ZIG to a Zig executable")?;
    if !output.status.success() {
        let _ = fs::remove_dir_all(&partial);
        bail!(
            "pip can't install Zig {VERSION}:\n{}\nInstall it manually (python3 -m pip install ziglang=={VERSION}), or set TOOLSCRIPT_ZIG",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    // An existing directory does not run, or another build has just installed it. It can be replaced in both cases.
    let _ = fs::remove_dir_all(directory);
    if let Err(error) = fs::rename(&partial, directory) {
        let _ = fs::remove_dir_all(&partial);
        ensure!(version(&[executable(directory)]).is_ok(), "can't create {}: {error}", directory.display());
    }
    Ok(())
}

/// Returns `TOOLSCRIPT_CACHE`, or `toolscript` in the cache directory of the user.
fn cache_directory() -> Result<PathBuf> {
    let under = |name: &str, rest: &str| env::var_os(name).filter(|value| !value.is_empty()).map(|value| PathBuf::from(value).join(rest));
    let directory = env::var_os("TOOLSCRIPT_CACHE")
        .map(PathBuf::from)
        .or_else(|| under("XDG_CACHE_HOME", "toolscript"))
        .or_else(|| under("LOCALAPPDATA", "toolscript"))
        .or_else(|| under("HOME", ".cache/toolscript"))
        .context("HOME is not set; set TOOLSCRIPT_CACHE to a writable directory")?;
    fs::create_dir_all(&directory)
        .with_context(|| format!("can't create the cache directory {}; set TOOLSCRIPT_CACHE", directory.display()))?;
    Ok(directory)
}
