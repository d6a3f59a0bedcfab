//! Each system call of the file layer fails once, with each of several errors: reports, quotas and files stay consistent.

mod injector;

use injector::{GROUPS, Injector};
use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};
use tempfile::TempDir;
use toolscript::{
    Files, RunOptions, Script,
    engine::IoOptions,
    files::{FileError, FileOperation, TouchedFile, WriteBudget, WriteMode},
};

const ERRORS: [i32; 5] = [libc::EIO, libc::ENOSPC, libc::EACCES, libc::EINTR, libc::EMFILE];

/// The disk quota of each case.
const QUOTA: u64 = 100_000;

/// The bytes that a file or a directory counts in addition to its contents.
const ENTRY: u64 = 1024;

const SCRIPT: &str = "
    local function write(path, mode, text) local f = io.open(path, mode) f:write(text) f:close() end
    pcall(write, 'new/deep/file', 'w', 'abc')
    pcall(write, 'kept', 'a', ' and more')
    pcall(write, 'folder/file', 'r+', '12')
    pcall(write, 'emptied', 'w', 'x')
    pcall(function() local f = io.open('kept') f:seek('end', -2) f:read('*a') f:close() end)
    pcall(os.rename, 'kept', 'moved')
    pcall(os.rename, 'new/deep/file', 'emptied')
    pcall(os.remove, 'folder/file')
    pcall(io.list, '.')
    return 'done'";

/// The contents of each file below a directory, except for temporary files.
type Contents = BTreeMap<String, Vec<u8>>;

/// One case: a new directory with some files and a quota.
struct Case {
    directory: TempDir,
    files: Files,
    before: Contents,
}

impl Case {
    fn new() -> Self {
        let directory = TempDir::new().expect("a directory");
        fs::create_dir(directory.path().join("folder")).expect("a directory");
        for (name, contents) in [("kept", "old text"), ("folder/file", "34567"), ("emptied", "contents")] {
            fs::write(directory.path().join(name), contents).expect("a file");
        }
        let files = Files::new(directory.path()).expect("opened").with_disk_quota(QUOTA).expect("counted");
        let before = contents(directory.path());
        Self { directory, files, before }
    }

    /// Asserts that nothing is left behind, and that the quota still equals the actual usage.
    fn check(&self, description: &str) {
        let temporary = self.directory.path().join(".toolscript-tmp");
        let leftovers = fs::read_dir(temporary).map_or(0, Iterator::count);
        assert_eq!(leftovers, 0, "{description}: a temporary file stays");
        let used: u64 = usage(self.directory.path());
        let free = QUOTA - used - ENTRY;
        let probe = |bytes: u64| {
            let contents = vec![0; usize::try_from(bytes).expect("a size")];
            self.files.write("probe", &contents, WriteMode::Create, &mut WriteBudget::default())
        };
        let message = probe(free + 1).expect_err(description).to_string();
        assert_eq!(message, "disk quota exceeded (100000 bytes for all files)", "{description}: {used} bytes are used");
        probe(free).unwrap_or_else(|error| panic!("{description}: the counted usage is higher than {used}: {error}"));
        self.files.remove("probe").expect(description);
    }
}

fn contents(directory: &Path) -> Contents {
    let mut contents = Contents::new();
    for entry in fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path()) {
        let name = entry.file_name().expect("a name").to_str().expect("UTF-8").to_owned();
        if entry.is_file() {
            contents.insert(name, fs::read(entry).expect("a file"));
        } else if name != ".toolscript-tmp" {
            contents.extend(self::contents(&entry).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        }
    }
    contents
}

fn usage(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    let counted = entries.filter(|entry| !entry.ends_with(".toolscript-tmp"));
    counted.map(|entry| ENTRY + if entry.is_file() { fs::metadata(entry).expect("metadata").len() } else { usage(&entry) }).sum()
}

/// Performs a case with each fault, on a thread whose system calls can fail. Returns the number of faults, or `None` if the machine does
/// not allow them.
fn with_each_fault(case: impl Fn(&Case, &mut dyn FnMut(), &str) + Send + 'static) -> Option<u64> {
    // The engine has threads of its own, which are not filtered.
    inline_engine();
    let work = move || {
        let injector = match Injector::install() {
            Ok(injector) => injector,
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "not run, as this machine does not allow filters of system calls: {error}");
                return None;
            }
        };
        let mut faults = 0;
        for (name, calls) in GROUPS {
            for error in ERRORS {
                for skip in 0.. {
                    let description = format!("call {skip} of {name} fails with {}", std::io::Error::from_raw_os_error(error));
                    let state = Case::new();
                    let mut failed = false;
                    injector.fail(calls, skip, error, state.directory.path().to_owned());
                    let ended = catch_unwind(AssertUnwindSafe(|| case(&state, &mut || failed |= injector.stop(), &description)));
                    failed |= injector.stop();
                    if let Err(panic) = ended {
                        std::panic::resume_unwind(panic);
                    }
                    state.check(&description);
                    if !failed {
                        break;
                    }
                    faults += 1;
                }
            }
        }
        Some(faults)
    };
    std::thread::spawn(work).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Asserts that the report of a run is true.
fn check_report(case: &Case, touched: &[TouchedFile], description: &str) {
    let after = contents(case.directory.path());
    for file in touched {
        let actual = after.get(&file.name).map(|contents| contents.len() as u64);
        match (file.op, file.bytes) {
            (FileOperation::Remove, _) => assert_eq!(actual, None, "{description}: {} was not removed", file.name),
            (_, Some(bytes)) => assert_eq!(actual, Some(bytes), "{description}: the size of {}", file.name),
            // The fault was in the lookup of the size.
            (_, None) => assert!(description.contains(" of stat ") || description.contains(" of open "), "{description}: {}", file.name),
        }
    }
    let names = case.before.keys().chain(after.keys());
    for name in names.filter(|name| case.before.get(*name) != after.get(*name)) {
        assert!(touched.iter().any(|file| file.name == *name), "{description}: {name} is not reported");
    }
}

#[test]
fn a_script_sees_errors_and_its_report_stays_true() {
    let faults = with_each_fault(|case, stop, description| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let run = |source: &str| {
            let options = RunOptions::default().with_io(IoOptions::new(case.files.clone()));
            runtime.block_on(inline_engine().run(&Script::new(source), options)).expect("the run is accepted").outcome
        };
        let outcome = run(SCRIPT);
        stop();
        assert_eq!(outcome.result.as_ref().map(|result| result.get()).ok(), Some("\"done\""), "{description}");
        check_report(case, &outcome.files_touched, description);
        assert!(run("io.open('next', 'w'):write('x'):close() os.remove('next')").result.is_ok(), "{description}: the next run");
    });
    assert!(faults.is_none_or(|faults| faults > 200), "{faults:?} faults");
}

/// Returns an engine whose runs perform file operations on their own thread.
fn inline_engine() -> &'static toolscript::Engine {
    static ENGINE: std::sync::OnceLock<toolscript::Engine> = std::sync::OnceLock::new();
    ENGINE.get_or_init(|| {
        toolscript::Engine::builder().concurrency(1).file_io(toolscript::engine::FileIo::Inline).build().expect("an engine")
    })
}

type Operation = fn(&Files) -> Result<(), FileError>;

/// Operations on whole files: the file that each changes, and its contents afterwards.
const OPERATIONS: [(&str, Option<&str>, Operation); 6] = [
    ("new/deep/file", Some("new"), |files| write(files, "new/deep/file", WriteMode::Create)),
    ("kept", Some("new"), |files| write(files, "kept", WriteMode::Overwrite)),
    ("missing", Some("new"), |files| write(files, "missing", WriteMode::Overwrite)),
    ("kept", Some("old textnew"), |files| write(files, "kept", WriteMode::Append)),
    ("kept", Some("new text"), |files| files.edit("kept", "old", "new", false, &mut WriteBudget::default()).map(|_| ())),
    ("kept", None, |files| files.remove("kept").map(|_| ())),
];

fn write(files: &Files, name: &str, mode: WriteMode) -> Result<(), FileError> {
    files.write(name, b"new", mode, &mut WriteBudget::default()).map(|_| ())
}

#[test]
fn an_operation_either_completes_or_changes_nothing() {
    let mut total = Some(0);
    for (name, result, operation) in OPERATIONS {
        let faults = with_each_fault(move |case, stop, description| {
            let ended = operation(&case.files);
            stop();
            let after = contents(case.directory.path());
            let expected = if ended.is_ok() { result.map(Into::into) } else { case.before.get(name).cloned() };
            assert_eq!(after.get(name), expected.as_ref(), "{name}: {description}: {ended:?}");
            let others =
                |contents: &Contents| contents.iter().filter(|(other, _)| *other != name).map(|(name, _)| name.clone()).collect::<Vec<_>>();
            assert_eq!(others(&after), others(&case.before), "{name}: {description}");
        });
        total = total.zip(faults).map(|(total, faults)| total + faults);
    }
    assert!(total.is_none_or(|total| total > 200), "{total:?} faults");
}
