//! The table "Files" of hostile inputs: what is refused, and that nothing outside of the io dir was read, made or changed.

use crate::{
    support::links::{LINKS, Swapper, THROUGH, plant_links},
    support::{IoDir, engine, limited, outcome, picture},
};
use std::{
    ffi::OsStr,
    fs,
    io::Write as _,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{FileTypeExt as _, symlink},
        net::UnixListener,
    },
    process::Command,
    sync::Arc,
    time::Duration,
};
use toolscript::{
    ErrorKind, Files, Script,
    engine::{IoOptions, Listener},
    files::DirectoryError,
};

const SECRET: &str = "the secret of the host";

/// Every call that takes a path, on each of the arguments: `path call: answer`.
const EVERY_CALL: &str = r#"
local answers = {}
for _, path in { ... } do
    local calls = { lines = io.lines, list = io.list, remove = os.remove }
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
    let run = engine().run(&Script::new(EVERY_CALL).with_arguments(paths.iter().copied()), dir.options()).await.expect("the run was made");
    let answers: Vec<String> = run.outcome.decode().expect("answers");
    assert_eq!(answers.len(), paths.len() * 12, "not all calls were made");
    let all = outcome(&run).to_string();
    assert!(!all.contains(dir.outside().to_str().expect("a path")), "a path of the host: {all}");
    answers
}

#[tokio::test]
async fn bad_paths_end_in_the_documented_error() {
    let dir = IoDir::new().made();
    fs::write(dir.outside().join("x"), SECRET).expect("a file");
    let before = picture(dir.outside());
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
            assert!(answer.ends_with(&format!(": {message}")), "{answer}");
        }
    }
    for answer in every_call(&dir, &[".", "./", "folder/", "folder/."]).await {
        let (call, answer) = answer.split_once(": ").expect("an answer");
        if !call.ends_with(" list") {
            assert!(answer.ends_with(": Is a directory"), "{call}: {answer}");
        }
    }
    assert_eq!(picture(dir.outside()), before);
}

#[tokio::test]
async fn links_are_refused_by_every_call() {
    let dir = IoDir::new().made();
    plant_links(&dir);
    let before = picture(dir.outside());
    for answer in every_call(&dir, &[&LINKS[..], &THROUGH].concat()).await {
        assert!(answer.ends_with(": symbolic links are not followed"), "{answer}");
    }
    assert_eq!(picture(dir.outside()), before);
    let names: Vec<String> = dir.result("return io.list()").await;
    assert!(LINKS.iter().all(|link| names.contains(&(*link).to_owned())), "links are listed by name: {names:?}");
}

#[tokio::test]
async fn an_io_dir_that_was_replaced_by_a_link_is_still_the_one_in_use() {
    let dir = IoDir::new().made();
    let (elsewhere, moved) = (dir.outside().join("elsewhere"), dir.outside().join("moved"));
    fs::create_dir(&elsewhere).expect("a folder");
    fs::write(elsewhere.join("secret"), SECRET).expect("a file");
    dir.result::<()>("io.open('first', 'w'):write('1'):close()").await;
    fs::rename(dir.path(), &moved).expect("moved");
    symlink(&elsewhere, dir.path()).expect("a link");
    let answer: (String, bool) =
        dir.result("io.open('second', 'w'):write('2'):close() return table.concat(io.list(), ' '), (pcall(io.open, 'secret'))").await;
    assert_eq!(answer, ("first second".into(), false));
    assert_eq!(fs::read_to_string(moved.join("second")).expect("the file"), "2");
    assert_eq!(picture(&elsewhere).len(), 1);
}

#[tokio::test]
async fn an_io_dir_is_made_without_following_a_link() {
    let dir = IoDir::new();
    let elsewhere = dir.outside().join("elsewhere");
    symlink(&elsewhere, dir.path()).expect("a dangling link, after the start");
    let script = "return (select(2, pcall(io.open, 'x', 'w')))";
    assert_eq!(dir.result::<String>(script).await, "x: Not a directory");
    fs::create_dir(&elsewhere).expect("a folder");
    assert_eq!(dir.result::<String>(script).await, "x: Not a directory");
    assert!(picture(&elsewhere).is_empty());
    assert!(matches!(Files::new(dir.path()), Err(DirectoryError::Symlink)));
    fs::remove_file(dir.path()).expect("the link is gone");
    assert_eq!(dir.result::<String>("return io.type(io.open('x', 'w'))").await, "file");
    assert!(dir.path().join("x").exists(), "each run looks again");
}

#[tokio::test]
async fn an_io_dir_is_not_made_before_the_first_write() {
    let dir = IoDir::new();
    let script = "return #io.list(), (pcall(io.open, 'x')), (pcall(os.remove, 'x')), (pcall(io.lines, 'x')), (pcall(io.open, 'x', 'r+'))";
    assert_eq!(dir.result::<(u32, bool, bool, bool, bool)>(script).await, (0, false, false, false, false));
    assert!(!dir.path().exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn swapping_a_file_for_a_link_leaks_nothing() {
    let dir = IoDir::new().made();
    let secret = dir.outside().join("secret");
    fs::write(&secret, SECRET).expect("a file");
    let swapper = Swapper::start(dir.path(), secret.clone());
    let script = r#"
        local reads, refusals, leaks, writes = 0, 0, 0, 0
        for round = 1, 500 do
            for _, name in { "x", "folder/x", "folder/secret" } do
                local ok, answer = pcall(function() return io.open(name):read("*a") end)
                if not ok then refusals += 1 elseif answer:find("secret") then leaks += 1 else reads += 1 end
                for _, mode in { "r+", "a", "w" } do
                    if pcall(function() io.open(name, mode):write("attack"):close() end) then writes += 1 end
                end
            end
        end
        return reads, refusals, leaks, writes"#;
    let (reads, refusals, leaks, writes): (u32, u32, u32, u32) = dir.result(script).await;
    let swaps = swapper.stop();
    assert_eq!(leaks, 0);
    assert_eq!(fs::read_to_string(&secret).expect("the secret"), SECRET);
    assert!(reads > 0 && refusals > 0 && writes > 0, "{reads} reads, {refusals} refusals, {writes} writes");
    assert!(swaps > 10, "too few swaps: {swaps}");
}

#[tokio::test]
async fn what_is_not_a_regular_file_is_refused_and_does_not_block() {
    let dir = IoDir::new().made();
    assert!(Command::new("mkfifo").arg(dir.path().join("fifo")).status().expect("mkfifo").success());
    let _socket = UnixListener::bind(dir.path().join("socket")).expect("a socket");
    let mut paths = vec!["fifo", "socket"];
    // Only root can make one.
    if Command::new("mknod").arg(dir.path().join("device")).args(["c", "1", "3"]).output().expect("mknod").status.success() {
        paths.push("device");
    }
    for answer in every_call(&dir, &paths).await {
        let expected = if answer.contains(" list:") { ": Not a directory" } else { ": not a regular file" };
        assert!(answer.ends_with(expected), "{answer}");
    }
    assert!(fs::symlink_metadata(dir.path().join("fifo")).expect("it is there").file_type().is_fifo());
}

/// Writes seven bytes and then does something else until it is stopped.
async fn written_before(work: &str) -> serde_json::Value {
    let dir = IoDir::new();
    let mut options = limited(|limits| limits.timeout = Duration::from_millis(500));
    options.io = Some(dir.io.clone());
    let source = format!("local f = io.open('seven', 'w') f:write('123') f:write('4567') local other = io.open('other', 'w') {work}");
    let run = engine().run(&Script::new(source), options).await.expect("the run was made");
    assert_eq!(run.outcome.result.as_ref().expect_err("stopped").kind, ErrorKind::Timeout, "{work}");
    let mut touched = outcome(&run)["files_touched"].clone();
    assert_eq!(touched[1]["name"], "seven");
    touched[1].take()
}

#[tokio::test]
async fn bytes_that_wait_are_on_disk_when_a_script_is_stopped_later() {
    for work in [
        "while true do end",
        // Long steps, of which there are few.
        "while true do local s = string.rep('y', 100000) end",
        "local t = table.create(20000, 1) while true do table.sort(t) end",
        "while true do local t = json.decode(json.encode(table.create(2000, 1))) end",
        // Steps that are given back, by writes to another file.
        "while true do other:write('x') end",
        "while true do other:write('item ', 1, '\\n') local t = table.create(2000, 1) end",
    ] {
        assert_eq!(written_before(work).await, serde_json::json!({ "name": "seven", "op": "write", "bytes": 7 }), "{work}");
    }
}

#[tokio::test]
async fn a_log_of_long_steps_is_on_disk_as_it_grows() {
    let dir = IoDir::new();
    let mut options = limited(|limits| limits.timeout = Duration::from_millis(500));
    options.io = Some(dir.io.clone());
    let source = "local f, n = io.open('log', 'w'), 0
        while true do
            n += 1
            f:write('item ', n, '\\n')
            local t = table.create(20000, 1)
            table.sort(t)
            local s = table.concat(t, ',')
            print(n)
        end";
    let run = engine().run(&Script::new(source), options).await.expect("the run was made");
    let items = run.outcome.logs.len();
    let lines = fs::read_to_string(dir.path().join("log")).expect("the file").lines().count();
    assert!(items > 3 && lines + 1 >= items, "{lines} lines on disk, {items} items done");
}

#[tokio::test]
async fn a_file_that_a_stop_caught_is_listed_with_its_true_size_and_flagged() {
    let dir = IoDir::new().made();
    fs::write(dir.path().join("old"), "old").expect("a file");
    // One call that takes all the fuel, without coming by where bytes are written.
    let source = "local large = ('x'):rep(1e7)
        local f, g, h = io.open('new', 'w'), io.open('old', 'a'), io.open('done', 'w')
        h:write('done')
        f:write('through')
        g:write(' and new')
        f:write(' and waiting')
        g:write(' and waiting')
        print('stuck')
        return #large:upper()";
    let mut options = limited(|limits| limits.fuel = Some(50_000_000));
    options.io = Some(dir.io.clone());
    let run = engine().run(&Script::new(source), options).await.expect("the run was made");
    assert_eq!(run.outcome.logs, ["stuck"]);
    assert_eq!(run.outcome.result.as_ref().expect_err("stopped").kind, ErrorKind::Fuel);
    assert_eq!(
        outcome(&run)["files_touched"],
        serde_json::json!([
            { "name": "done", "op": "write", "bytes": 4 },
            { "name": "new", "op": "write", "bytes": 7, "cut": true },
            { "name": "old", "op": "append", "bytes": 11, "cut": true },
        ])
    );
    assert_eq!(fs::read_to_string(dir.path().join("old")).expect("the file"), "old and new");
}

#[tokio::test]
async fn a_name_that_is_not_utf8_is_marked_and_never_matched() {
    let dir = IoDir::new().made();
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

/// Removes the io dir when the script says so.
struct Remover(std::path::PathBuf);

impl Listener for Remover {
    fn line(&self, _line: &str) {
        fs::remove_dir_all(&self.0).expect("removed");
    }
}

#[tokio::test]
async fn an_io_dir_that_is_deleted_while_running_is_an_error_the_script_sees() {
    let dir = IoDir::new().made();
    let options = dir.options().with_listener(Arc::new(Remover(dir.path())));
    let source = "local f = io.open('open', 'w+') f:write('a') print('now') f:write('b') f:seek('set', 0)
        return f:read('*a'), #io.list(), (select(2, pcall(io.open, 'new', 'w'))), (select(2, pcall(os.remove, 'open')))";
    let run = engine().run(&Script::new(source), options).await.expect("the run was made");
    assert_eq!(
        outcome(&run),
        serde_json::json!({
            "result": ["ab", 0, "new: No such file or directory", "open: No such file or directory"],
            "logs": ["now"],
            "files_touched": [{ "name": "open", "op": "remove" }],
        })
    );
}

/// Runs the program in a place with mounts of its own; nothing where the machine does not allow that.
fn with_mounts(prepare: &str, script: &str) -> Option<String> {
    let folder = tempfile::TempDir::new().expect("a folder");
    let line = format!("set -e; mkdir io; {prepare}; exec \"$0\" run -e \"$1\" --io-dir io --json");
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &line, env!("CARGO_BIN_EXE_toolscript"), script])
        .current_dir(folder.path())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(!text.contains(folder.path().to_str().expect("a path")), "{text}");
    if text.is_empty() {
        let _ = writeln!(std::io::stderr(), "not run, as this machine allows no mounts: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some(text)
}

#[test]
fn a_disk_that_is_full_is_an_error_the_script_sees() {
    let script = "local f = io.open('x', 'w') local ok, message = pcall(function() for _ = 1, 100 do f:write(('x'):rep(5000)) end end)
        local closed = { pcall(f.close, f) }
        return ok, (message:gsub('script:1: ', '')), closed, #io.open('x'):read('*a') <= 65536";
    if let Some(output) = with_mounts("mount -t tmpfs -o size=64k none io", script) {
        assert!(output.starts_with(r#"{"result":[false,"x: No space left on device",[true,true],true],"logs":[],"files_touched":[{"name":"x","op":"write","bytes":65536}]}"#), "{output}");
    }
}

#[test]
fn bytes_that_a_full_disk_lost_behind_the_scripts_back_fail_the_run() {
    // The buffer is written when the script has ended, or has let go of the file.
    let fill = "io.open('big', 'w'):write(('x'):rep(61440)):close() local f = io.open('x', 'w') f:write('1') f:write(('x'):rep(60000))";
    for rest in ["return 1", "f = nil for i = 1, 65 do local g = io.open('y' .. i % 3, 'a') end return 1"] {
        if let Some(output) = with_mounts("mount -t tmpfs -o size=64k none io", &format!("{fill} {rest}")) {
            assert!(output.starts_with(r#"{"error":{"kind":"runtime","message":"x: No space left on device"}"#), "{output}");
        }
    }
    let returned = format!("{fill} local t = {{}} for i = 1, 100000 do t[1] = i end return pcall(f.write, f, 'x')");
    if let Some(output) = with_mounts("mount -t tmpfs -o size=64k none io", &returned) {
        assert!(output.starts_with(r#"{"result":[false,"x: No space left on device"],"#), "{output}");
    }
}

#[test]
fn a_read_only_io_dir_is_an_error_the_script_sees() {
    let script = "local t = {} for _, mode in { 'w', 'a', 'r+' } do table.insert(t, (select(2, pcall(io.open, 'old', mode)))) end
        return t, (select(2, pcall(io.open, 'new', 'w'))), (select(2, pcall(os.remove, 'old'))), io.open('old'):read()";
    let prepare = "echo old > io/old; mount --bind io io; mount -o remount,ro,bind io";
    if let Some(output) = with_mounts(prepare, script) {
        let refused = ["old", "old", "old"].map(|name| format!("{name}: Read-only file system"));
        let expected = serde_json::json!([refused, "new: Read-only file system", "old: Read-only file system", "old"]);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&output).expect("JSON")["result"], expected);
    }
}

#[test]
fn a_limit_on_file_sizes_is_an_error_the_script_sees() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let script =
        "local f = io.open('x', 'w') f:write(('x'):rep(1000)) local ok, message = pcall(f.write, f, ('x'):rep(17 * 2^20)) f:close()
        return ok, message, #io.open('x'):read('*a')";
    let output = Command::new("bash")
        .args(["-c", "ulimit -f 16384; exec \"$0\" run -e \"$1\" --json", env!("CARGO_BIN_EXE_toolscript"), script])
        .current_dir(folder.path())
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        text.starts_with(
            r#"{"result":[false,"x: File too large",1000],"logs":[],"files_touched":[{"name":"x","op":"write","bytes":1000}]}"#
        ),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_limit_on_file_sizes_that_the_guest_itself_passes_is_one_clear_line() {
    let line = "ulimit -f 1000; exec \"$0\" run -e 'return 1'";
    let output = Command::new("bash").args(["-c", line, env!("CARGO_BIN_EXE_toolscript")]).output().expect("it runs");
    let message = "error: the limit on file sizes is under 8 MiB, which the guest's image needs; raise it (ulimit -f)\n";
    assert_eq!((String::from_utf8_lossy(&output.stderr).as_ref(), output.status.code()), (message, Some(1)));
}

#[test]
fn bytes_that_a_limit_on_file_sizes_lost_behind_the_scripts_back_are_flagged() {
    let folder = tempfile::TempDir::new().expect("a folder");
    // The first write just fits, the second waits and does not.
    let write = "local h = io.open('big', 'w') h:write(('a'):rep(16777000)) h:write(('b'):rep(60000))";
    for (rest, kind) in [
        ("while true do end", "timeout"),
        ("h = nil for i = 1, 70 do io.open('x', 'a') end while true do end", "timeout"),
        ("error('mine')", "runtime"),
    ] {
        let script = format!("{write} {rest}");
        let output = Command::new("bash")
            .args(["-c", "ulimit -f 16384; exec \"$0\" run -e \"$1\" --json --timeout 1", env!("CARGO_BIN_EXE_toolscript"), &script])
            .current_dir(folder.path())
            .output()
            .expect("it runs");
        let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(outcome["error"]["kind"], kind, "{outcome}");
        assert_eq!(
            outcome["files_touched"][0],
            serde_json::json!({ "name": "big", "op": "write", "bytes": 16_777_000, "cut": true }),
            "{rest}"
        );
    }
}

#[tokio::test]
async fn the_same_files_can_be_given_to_many_runs() {
    let dir = IoDir::new();
    let io = IoOptions::new(dir.io.files.clone());
    let runs = (0..20).map(|number| {
        let script = Script::new(format!("io.open('f{number}', 'w'):write('{number}'):close() return #io.list() > 0"));
        let options = toolscript::RunOptions::default().with_io(io.clone());
        async move { engine().run(&script, options).await.expect("the run was made") }
    });
    for run in futures_join(runs).await {
        assert_eq!(run.outcome.files_touched.len(), 1, "a run reports its own files only");
    }
    assert_eq!(dir.result::<u32>("return #io.list()").await, 20);
}

async fn futures_join<F: Future<Output = toolscript::Run> + Send + 'static>(runs: impl Iterator<Item = F>) -> Vec<toolscript::Run> {
    let mut all = tokio::task::JoinSet::new();
    runs.for_each(|run| drop(all.spawn(run)));
    all.join_all().await
}
