//! Finds the pinned Zig, or fetches it with pip into a cache folder that survives `cargo clean`.

use crate::guest::say;
use anyhow::{Context, Result, bail, ensure};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The version in `zig-requirements.txt`; the flags in `compile.rs` were chosen for it.
const VERSION: &str = "0.17.0";

/// A Zig that runs here.
pub struct Zig {
    command: Vec<PathBuf>,
    cache: PathBuf,
    library: PathBuf,
}

impl Zig {
    /// `TOOLSCRIPT_ZIG`, a `zig` or `python3 -m ziglang` of the pinned version, or the wheel by pip.
    pub fn find_or_fetch() -> Result<Self> {
        println!("cargo::rerun-if-env-changed=TOOLSCRIPT_ZIG");
        println!("cargo::rerun-if-env-changed=TOOLSCRIPT_CACHE");
        let cache = cache_folder()?;
        if let Some(path) = env::var_os("TOOLSCRIPT_ZIG") {
            let command = vec![PathBuf::from(&path)];
            let version = version(&command).with_context(|| {
                format!("TOOLSCRIPT_ZIG is {}, which does not run; unset it, or point it at Zig {VERSION}", path.display())
            })?;
            if version != VERSION {
                println!("cargo::warning=TOOLSCRIPT_ZIG is Zig {version}; the guest is tested with {VERSION}");
            }
            return Self::new(command, cache);
        }
        let fetched = cache.join(format!("ziglang-{VERSION}"));
        let candidates =
            [vec![PathBuf::from("zig")], vec![PathBuf::from("python3"), "-m".into(), "ziglang".into()], vec![executable(&fetched)]];
        for command in candidates {
            if version(&command).is_ok_and(|version| version == VERSION) {
                return Self::new(command, cache);
            }
        }
        fetch(&fetched)?;
        Self::new(vec![executable(&fetched)], cache)
    }

    fn new(command: Vec<PathBuf>, cache: PathBuf) -> Result<Self> {
        let mut zig = Self { command, cache, library: PathBuf::new() };
        let output = zig.command("env").output().context("running `zig env`")?;
        let text = String::from_utf8_lossy(&output.stdout);
        // Zig prints its own object notation: `.lib_dir = "…",`.
        let library = text.lines().find_map(|line| line.trim().strip_prefix(".lib_dir = \"")?.strip_suffix("\","));
        zig.library = library.context("`zig env` does not name its library folder")?.into();
        Ok(zig)
    }

    /// `zig VERB`, with its caches where `cargo clean` leaves them alone.
    pub fn command(&self, verb: &str) -> Command {
        let mut command = Command::new(&self.command[0]);
        command
            .args(&self.command[1..])
            .arg(verb)
            .env("ZIG_GLOBAL_CACHE_DIR", self.cache.join("zig"))
            .env("ZIG_LOCAL_CACHE_DIR", self.cache.join("zig"));
        command
    }

    /// The folder with the sources of libc++abi and libunwind.
    pub fn library(&self) -> &Path {
        &self.library
    }
}

fn version(command: &[PathBuf]) -> Result<String> {
    let output = Command::new(&command[0]).args(&command[1..]).arg("version").output()?;
    ensure!(output.status.success(), "it failed");
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn executable(folder: &Path) -> PathBuf {
    folder.join("ziglang").join(format!("zig{}", env::consts::EXE_SUFFIX))
}

/// Installs beside the final place and renames, so that a build that was interrupted leaves nothing half done.
fn fetch(folder: &Path) -> Result<()> {
    say(&format!("fetching Zig {VERSION} with pip (100 MB, once)"));
    let requirements = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("guest/build/zig-requirements.txt");
    let partial = folder.with_extension(format!("partial-{}", std::process::id()));
    let output = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes", "--target"])
        .arg(&partial)
        .arg("-r")
        .arg(&requirements)
        .output()
        .context("python3 is missing: install Python 3 with pip, or set TOOLSCRIPT_ZIG to a Zig executable")?;
    if !output.status.success() {
        let _ = fs::remove_dir_all(&partial);
        bail!(
            "pip could not install Zig {VERSION}:\n{}\nInstall it yourself (python3 -m pip install ziglang=={VERSION}), or set TOOLSCRIPT_ZIG",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    // What is there already does not run, or another build was faster: in both cases this one will do.
    let _ = fs::remove_dir_all(folder);
    if let Err(error) = fs::rename(&partial, folder) {
        let _ = fs::remove_dir_all(&partial);
        ensure!(version(&[executable(folder)]).is_ok(), "can't make {}: {error}", folder.display());
    }
    Ok(())
}

/// `TOOLSCRIPT_CACHE`, or `toolscript` in the user's cache folder.
fn cache_folder() -> Result<PathBuf> {
    let under = |name: &str, rest: &str| env::var_os(name).filter(|value| !value.is_empty()).map(|value| PathBuf::from(value).join(rest));
    let folder = env::var_os("TOOLSCRIPT_CACHE")
        .map(PathBuf::from)
        .or_else(|| under("XDG_CACHE_HOME", "toolscript"))
        .or_else(|| under("LOCALAPPDATA", "toolscript"))
        .or_else(|| under("HOME", ".cache/toolscript"))
        .context("there is no HOME: set TOOLSCRIPT_CACHE to a folder that the build may use")?;
    fs::create_dir_all(&folder).with_context(|| format!("can't make the cache folder {}; set TOOLSCRIPT_CACHE", folder.display()))?;
    Ok(folder)
}
