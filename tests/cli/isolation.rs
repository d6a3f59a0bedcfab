//! Isolation of the process from a script.

use super::{text, toolscript};
use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};
use tempfile::TempDir;

#[test]
fn a_script_can_not_see_the_host() {
    let directory = TempDir::new().expect("a directory");
    let script = "
        local seen, texts = {}, {}
        local function inspect(value)
            table.insert(texts, tostring(value))
            if type(value) == 'table' and not seen[value] then
                seen[value] = true
                for key, member in value do inspect(key) inspect(member) end
                inspect(getmetatable(value))
            elseif type(value) == 'function' and value ~= coroutine.yield and value ~= print then
                table.insert(texts, `{debug.info(value, 'sln')}`)
                for _, argument in { 'PATH', '/etc/passwd', 'CANARY', 0 } do
                    local _, answer = pcall(value, argument)
                    table.insert(texts, tostring(answer))
                end
            end
        end
        local print, error, progress = print, error, progress
        for name, value in getmetatable(getfenv()).__index do
            inspect(value)
        end
        print(table.concat(texts, ' '))
        return #texts > 500";
    let output =
        toolscript(&directory, &["run", "-e", script, "--json", "--receipt"]).env("CANARY", "sings-in-the-mine").output().expect("output");
    let everything = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{everything}");
    assert!(everything.starts_with("{\"result\":true,"), "the script did not inspect its environment");
    let home = std::env::var("HOME").expect("a home");
    for secret in ["sings-in-the-mine", directory.path().to_str().expect("a path"), env!("CARGO_MANIFEST_DIR"), &home] {
        assert!(!everything.contains(secret), "{secret}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn process_memory_stays_bounded_while_a_script_allocates_a_gibibyte() {
    let directory = TempDir::new().expect("a directory");
    let script = "local ok, message = pcall(string.rep, 'x', 2 ^ 30) local s = 'x' pcall(function() while true do s = s .. s end end)
        print(message) while true do end";
    let mut child = toolscript(&directory, &["run", "-e", script]).stderr(Stdio::piped()).spawn().expect("a process");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    assert_eq!(lines.next().expect("a line").expect("text"), "not enough memory");
    let peak = crate::support::server_process::peak_memory(child.id());
    child.kill().expect("an exit status");
    child.wait().expect("an exit status");
    assert!(peak < 200 << 20, "{peak} bytes");
}
