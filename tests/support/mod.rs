//! Helpers that are shared by several areas.

#[cfg(target_os = "linux")]
pub mod api_server;
#[cfg(target_os = "linux")]
pub mod compressing_server;
#[cfg(target_os = "linux")]
pub mod http_server;
#[cfg(target_os = "linux")]
pub mod key_server;
#[cfg(target_os = "linux")]
pub mod kill_on_drop;
#[cfg(target_os = "linux")]
pub mod links;
#[cfg(target_os = "linux")]
pub mod server_process;
#[cfg(target_os = "linux")]
pub mod terminal;
#[cfg(target_os = "linux")]
pub mod upstream_server;
#[cfg(target_os = "linux")]
pub mod wire;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use toolscript::{
    Engine, Files, Limits, Run, RunOptions, Script,
    engine::{IoErrorMode, IoOptions},
};

/// Returns the engine that all tests of the process share.
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::builder().concurrency(8).build().expect("an engine"))
}

/// Runs a script with the default limits.
pub async fn run(source: &str) -> Run {
    run_with(source, RunOptions::default()).await
}

/// Runs a script with the given options.
pub async fn run_with(source: &str, options: RunOptions) -> Run {
    engine().run(&Script::new(source), options).await.expect("the run is accepted")
}

/// Returns options whose limits are the defaults after `change`.
pub fn limited(change: impl FnOnce(&mut Limits)) -> RunOptions {
    let mut limits = Limits::default();
    change(&mut limits);
    RunOptions::default().with_limits(limits)
}

/// An io directory inside a temporary directory, which is removed on drop.
pub struct IoDir {
    parent: TempDir,
    pub io: IoOptions,
}

impl IoDir {
    pub fn new() -> Self {
        let parent = TempDir::new().expect("a directory");
        let io = IoOptions::new(Files::new(parent.path().join("files")).expect("an io directory"));
        Self { parent, io }
    }

    /// Returns the directory that contains the io directory.
    pub fn outside(&self) -> &Path {
        self.parent.path()
    }

    /// Returns the io directory. It does not exist until a run or [`created`](Self::created) creates it.
    pub fn path(&self) -> PathBuf {
        self.parent.path().join("files")
    }

    /// Creates the io directory.
    pub fn created(self) -> Self {
        fs::create_dir_all(self.path()).expect("a directory");
        self
    }

    pub fn options(&self) -> RunOptions {
        RunOptions::default().with_io(self.io.clone())
    }

    pub async fn run(&self, source: &str) -> Run {
        run_with(source, self.options()).await
    }

    /// Returns the result of a script that must not fail.
    pub async fn result<T: serde::de::DeserializeOwned>(&self, source: &str) -> T {
        self.run(source).await.outcome.decode().expect("a result")
    }
}

/// Returns the outcome of a run as a JSON value.
pub fn outcome(run: &Run) -> serde_json::Value {
    serde_json::to_value(&run.outcome).expect("an outcome is JSON")
}

/// A script of `tests/scripts`. Its lines `--# key = value` are settings in TOML.
pub struct Fixture {
    pub path: PathBuf,
    pub source: Vec<u8>,
    pub settings: toml::Table,
}

impl Fixture {
    /// Returns all scripts of a directory, sorted by name.
    pub fn all(directory: &str) -> Vec<Self> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts").join(directory);
        let entries = fs::read_dir(directory).expect("the fixture directory");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "luau"));
        paths.sort();
        assert!(!paths.is_empty());
        paths.into_iter().map(Self::read).collect()
    }

    fn read(path: PathBuf) -> Self {
        let source = fs::read(&path).expect("a fixture");
        let text = String::from_utf8_lossy(&source);
        let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("--# ")).collect();
        let settings = lines.join("\n").parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path, source, settings }
    }

    pub fn name(&self) -> String {
        self.path.file_stem().expect("a name").to_string_lossy().into_owned()
    }

    pub fn script(&self) -> Script {
        let arguments = self.settings.get("arguments").and_then(|value| value.as_array()).cloned().unwrap_or_default();
        Script::new(self.source.clone()).with_arguments(arguments.iter().filter_map(|value| value.as_str()))
    }

    pub fn options(&self) -> RunOptions {
        limited(|limits| {
            if let Some(fuel) = self.settings.get("fuel") {
                limits.fuel = fuel.as_integer().and_then(|fuel| fuel.try_into().ok());
            }
            // Long enough for a busy machine, so that fuel or memory stops the run first.
            limits.timeout = Duration::from_secs(120);
        })
    }

    /// Returns options with a new io directory that contains the files of the settings.
    pub fn options_with_io(&self) -> (IoDir, RunOptions) {
        let mut dir = IoDir::new();
        let number = |name| self.settings.get(name).and_then(toml::Value::as_integer).and_then(|number| number.try_into().ok());
        dir.io.max_bytes = number("max_bytes").unwrap_or(dir.io.max_bytes);
        dir.io.max_files = number("max_files").unwrap_or(dir.io.max_files);
        if self.setting("errors") == Some("return") {
            dir.io.errors = IoErrorMode::Return;
        }
        let files = self.settings.get("files").and_then(toml::Value::as_table).cloned().unwrap_or_default();
        for (name, content) in &files {
            fs::create_dir_all(dir.path()).expect("a directory");
            fs::write(dir.path().join(name), content.as_str().expect("a text")).expect("a file");
        }
        let options = self.options().with_io(dir.io.clone());
        (dir, options)
    }

    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name).and_then(|value| value.as_str())
    }
}

/// Waits until a condition is true. Panics after a minute.
pub async fn wait_for(mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_secs(60), "the condition did not become true");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Returns all paths below a directory with the contents of the files, to compare before and after.
pub fn snapshot(directory: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let kind = fs::symlink_metadata(&path).expect("metadata").file_type();
        let name = path.display().to_string();
        if kind.is_dir() {
            all.extend(snapshot(&path));
            all.push((name, "directory".into()));
        } else if kind.is_symlink() {
            all.push((name, format!("symlink to {}", fs::read_link(&path).expect("a symlink").display())));
        } else if kind.is_file() {
            all.push((name, fs::read_to_string(&path).expect("a file")));
        } else {
            all.push((name, "other".into()));
        }
    }
    all.sort();
    all
}
