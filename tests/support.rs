//! What the tests share.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};
use toolscript::{Engine, Limits, Run, RunOptions, Script};

/// One engine for all tests of the process, as a server would have.
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::builder().concurrency(8).build().expect("the engine"))
}

/// Runs a script with the default limits.
pub async fn run(source: &str) -> Run {
    run_with(source, RunOptions::default()).await
}

/// Runs a script with these options.
pub async fn run_with(source: &str, options: RunOptions) -> Run {
    engine().run(&Script::new(source), options).await.expect("the run was made")
}

/// Options with changed limits.
pub fn limited(change: impl FnOnce(&mut Limits)) -> RunOptions {
    let mut limits = Limits::default();
    change(&mut limits);
    RunOptions::default().with_limits(limits)
}

/// The outcome of a run as a JSON value.
pub fn outcome(run: &Run) -> serde_json::Value {
    serde_json::to_value(&run.outcome).expect("an outcome is JSON")
}

/// A script of `tests/scripts`, with what its lines `--# key = value` say, which are TOML.
pub struct Fixture {
    pub path: PathBuf,
    pub source: Vec<u8>,
    pub settings: toml::Table,
}

impl Fixture {
    /// All scripts of a folder, by name.
    pub fn all(folder: &str) -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts").join(folder);
        let entries = fs::read_dir(folder).expect("the folder of the fixtures");
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
            // Long enough for a machine that is busy with other tests; fuel or memory must end a run first.
            limits.timeout = Duration::from_secs(120);
        })
    }

    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name).and_then(|value| value.as_str())
    }
}
