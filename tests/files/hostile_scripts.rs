//! Hostile paths, symlinks and names in scripts: everything is rejected, and nothing outside the io directory is read, created or changed.

use crate::{
    support::links::{LINKS, SECRET, Swapper, THROUGH, plant_irregular_files, plant_links},
    support::{IoDir, engine, outcome, snapshot},
};
use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{FileTypeExt as _, symlink},
    },
    sync::Arc,
};
use toolscript::{
    Files, Run, RunOptions, Script,
    engine::{IoOptions, Listener},
    files::DirectoryError,
};

/// Makes every call that takes a path, with each of the arguments. Returns lines of the form `path call: answer`.
const EVERY_CALL: &str = r#"
local answers = {}
for _, path in { ... } do
    local calls = { lines = io.lines, list = io.list, remove = os.remove, exists = io.exists }
    calls["rename from"] = function(path) return os.rename(path, "renamed") end
    calls["rename to"] = function(path) return os.rename("rename-source", path) end
    for _, mode in { "r", "w", "a", "r+", "w+", "a+", "rb", "wb", "ab" } do
        calls["open " .. mode] = function(path)
            local file = io.open(path, mode)
            return if mode:sub(1, 1) == "r" then file:read("*a") else file:write("attack")
        end
    end
    for name, call in calls do
        local _, answer = pcall(call, path)
        table.insert(answers, `{path} {name}: {tostring(answer):gsub("^script:%d+: ", "")}`)
    end
end
table.sort(answers)
return answers
"#;

async fn every_call(dir: &IoDir, paths: &[&str]) -> Vec<String> {
    let source = dir.path().join("rename-source");
    fs::write(&source, "to be renamed").expect("a file");
    let run =
        engine().run(&Script::new(EVERY_CALL).with_arguments(paths.iter().copied()), dir.options()).await.expect("the run is accepted");
    let answers: Vec<String> = run.outcome.decode().expect("answers");
    assert_eq!(answers.len(), paths.len() * 15, "not all calls were made");
    let _ = fs::remove_file(&source);
    let all = outcome(&run).to_string();
    assert!(!all.contains(dir.outside().to_str().expect("a path")), "contains a path of the host: {all}");
    answers
}

#[tokio::test]
async fn invalid_paths_return_the_documented_error() {
    let dir = IoDir::new().created();
    fs::write(dir.outside().join("x"), SECRET).expect("a file");
    let before = snapshot(dir.outside());
    let long_name = "n".repeat(256);
    let long_path = "n/".repeat(2500);
    let deep_path = "n/".repeat(10_000) + "n";
    for (paths, message) in [
        (&["../x", "a/../../x", "..", "./../x", "a/.."][..], "path cannot contain '..' traversal"),
        (&["/etc/passwd", "//etc", "/proc/self/mem", "/"], "path must be relative"),
        (&[""], "path cannot be empty"),
        (&["\0", "x\0", "\0x", "../\0x"], "path cannot contain null bytes"),
        (&[&long_name, &long_path, &deep_path], "path is too long"),
    ] {
        for answer in every_call(&dir, paths).await {
            // `io.list("")` lists the io directory.
            assert!(answer.ends_with(&format!(": {message}")) || answer.starts_with(" list: table"), "{answer}");
        }
    }
    for answer in every_call(&dir, &[".", "./", "folder/", "folder/."]).await {
        let (call, answer) = answer.split_once(": ").expect("an answer");
        if call.ends_with(" exists") {
            assert_eq!(answer, call.starts_with('.').to_string(), "{call}");
        } else if !call.ends_with(" list") {
            assert!(answer.ends_with(": Is a directory"), "{call}: {answer}");
        }
    }
    assert_eq!(snapshot(dir.outside()), before);
}

#[tokio::test]
async fn symlinks_are_rejected_by_every_call() {
    let dir = IoDir::new().created();
    plant_links(&dir);
    let before = snapshot(dir.outside());
    for answer in every_call(&dir, &[&LINKS[..], &THROUGH].concat()).await {
        let expected = if answer.contains(" exists:") { ": false" } else { ": symbolic links are not followed" };
        assert!(answer.ends_with(expected), "{answer}");
    }
    assert_eq!(snapshot(dir.outside()), before);
    let names: Vec<String> = dir.result("return io.list()").await;
    assert!(LINKS.iter().all(|link| names.contains(&(*link).to_owned())), "symlinks are listed: {names:?}");
}

#[tokio::test]
async fn an_io_directory_that_was_replaced_by_a_symlink_stays_in_use() {
    let dir = IoDir::new().created();
    let (elsewhere, moved) = (dir.outside().join("elsewhere"), dir.outside().join("moved"));
    fs::create_dir(&elsewhere).expect("a directory");
    fs::write(elsewhere.join("secret"), SECRET).expect("a file");
    dir.result::<()>("io.open('first', 'w'):write('1'):close()").await;
    fs::rename(dir.path(), &moved).expect("moved");
    symlink(&elsewhere, dir.path()).expect("a symlink");
    let answer: (String, bool) =
        dir.result("io.open('second', 'w'):write('2'):close() return table.concat(io.list(), ' '), (pcall(io.open, 'secret'))").await;
    assert_eq!(answer, ("first second".into(), false));
    assert_eq!(fs::read_to_string(moved.join("second")).expect("the file"), "2");
    assert_eq!(snapshot(&elsewhere).len(), 1);
}

#[tokio::test]
async fn an_io_directory_is_created_without_following_a_symlink() {
    let dir = IoDir::new();
    let elsewhere = dir.outside().join("elsewhere");
    symlink(&elsewhere, dir.path()).expect("a dangling symlink, after the directory was opened");
    let script = "return (select(2, pcall(io.open, 'x', 'w')))";
    assert_eq!(dir.result::<String>(script).await, "x: Not a directory");
    fs::create_dir(&elsewhere).expect("a directory");
    assert_eq!(dir.result::<String>(script).await, "x: Not a directory");
    assert!(snapshot(&elsewhere).is_empty());
    assert!(matches!(Files::new(dir.path()), Err(DirectoryError::Symlink)));
    fs::remove_file(dir.path()).expect("the symlink was removed");
    assert_eq!(dir.result::<String>("return io.type(io.open('x', 'w'))").await, "file");
    assert!(dir.path().join("x").exists(), "each run tries again");
}

#[tokio::test]
async fn an_io_directory_is_not_created_before_the_first_write() {
    let dir = IoDir::new();
    let script = "return #io.list(), (pcall(io.open, 'x')), (pcall(os.remove, 'x')), (pcall(io.lines, 'x')), (pcall(io.open, 'x', 'r+')), (pcall(os.rename, 'x', 'a/y')), io.exists('x'), io.exists('.')";
    type Answers = (u32, bool, bool, bool, bool, bool, bool, bool);
    assert_eq!(dir.result::<Answers>(script).await, (0, false, false, false, false, false, false, true));
    assert!(!dir.path().exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replacing_a_file_by_a_symlink_leaks_nothing() {
    let dir = IoDir::new().created();
    let swapper = Swapper::start(&dir);
    let script = r#"
        local reads, rejections, leaks, writes = 0, 0, 0, 0
        for round = 1, 500 do
            for _, name in { "x", "folder/x", "folder/secret" } do
                local ok, answer = pcall(function() return io.open(name):read("*a") end)
                if not ok then rejections += 1 elseif answer:find("secret") then leaks += 1 else reads += 1 end
                for _, mode in { "r+", "a", "w" } do
                    if pcall(function() io.open(name, mode):write("attack"):close() end) then writes += 1 end
                end
            end
        end
        return reads, rejections, leaks, writes"#;
    let (reads, rejections, leaks, writes): (u32, u32, u32, u32) = dir.result(script).await;
    swapper.stop();
    assert_eq!(leaks, 0);
    assert!(reads > 0 && rejections > 0 && writes > 0, "{reads} reads, {rejections} rejections, {writes} writes");
}

#[tokio::test]
async fn irregular_files_are_rejected_without_blocking() {
    let dir = IoDir::new().created();
    let irregular = plant_irregular_files(&dir);
    for answer in every_call(&dir, &irregular.names).await {
        let expected = match answer.split_once(": ").map_or("", |(call, _)| call) {
            call if call.ends_with(" list") => ": Not a directory",
            call if call.ends_with(" exists") => ": false",
            _ => ": not a regular file",
        };
        assert!(answer.ends_with(expected), "{answer}");
    }
    assert!(fs::symlink_metadata(dir.path().join("fifo")).expect("it exists").file_type().is_fifo());
}

#[tokio::test]
async fn a_name_that_is_not_utf8_is_marked_and_never_matched() {
    let dir = IoDir::new().created();
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    fs::write(dir.path().join(name), SECRET).expect("a file");
    let names: Vec<String> = dir.result("return io.list()").await;
    assert_eq!(names, ["caf\u{fffd}.txt (not UTF-8)"]);
    for answer in every_call(&dir, &["caf\u{fffd}.txt"]).await {
        assert!(!answer.contains(SECRET), "{answer}");
    }
    assert_eq!(fs::read_to_string(dir.path().join(name)).expect("the file"), SECRET);
    let answers: Vec<String> =
        dir.result("local t = {} for _, f in { io.open, io.list, os.remove } do table.insert(t, (select(2, pcall(f, 'caf\\xe9.txt')))) end return t").await;
    assert_eq!(answers, ["path is not UTF-8"; 3]);
}

/// Removes the io directory when the script prints a line.
struct Remover(std::path::PathBuf);

impl Listener for Remover {
    fn line(&self, _line: &str) {
        fs::remove_dir_all(&self.0).expect("removed");
    }
}

#[tokio::test]
async fn an_io_directory_that_is_deleted_during_a_run_is_an_error_that_the_script_sees() {
    let dir = IoDir::new().created();
    let options = dir.options().with_listener(Arc::new(Remover(dir.path())));
    let source = "local f = io.open('open', 'w+') f:write('a') print('now') f:write('b') f:seek('set', 0)
        return f:read('*a'), #io.list(), (select(2, pcall(io.open, 'new', 'w'))), (select(2, pcall(os.remove, 'open')))";
    let run = engine().run(&Script::new(source), options).await.expect("the run is accepted");
    assert_eq!(
        outcome(&run),
        serde_json::json!({
            "result": ["ab", 0, "new: No such file or directory", "open: No such file or directory"],
            "logs": ["now"],
            "files_touched": [{ "name": "open", "op": "remove" }],
        })
    );
}

#[tokio::test]
async fn many_runs_can_use_the_same_directory() {
    let dir = IoDir::new();
    let io = IoOptions::new(dir.io.files.clone());
    let runs = (0..20).map(|number| {
        let script = Script::new(format!("io.open('f{number}', 'w'):write('{number}'):close() return #io.list() > 0"));
        let options = RunOptions::default().with_io(io.clone());
        async move { engine().run(&script, options).await.expect("the run is accepted") }
    });
    for run in join_all(runs).await {
        assert_eq!(run.outcome.files_touched.len(), 1, "a run reports only its own files");
    }
    assert_eq!(dir.result::<u32>("return #io.list()").await, 20);
}

async fn join_all<F: Future<Output = Run> + Send + 'static>(runs: impl Iterator<Item = F>) -> Vec<Run> {
    let mut all = tokio::task::JoinSet::new();
    runs.for_each(|run| drop(all.spawn(run)));
    all.join_all().await
}
