//! A snapshot of all globals of a script and their members, so that no change goes unnoticed.

use crate::support::{IoDir, run};
use std::{env, fs, path::Path};

const LISTING: &str = r#"
local names = {}
local function add(prefix, value)
    table.insert(names, prefix .. ": " .. typeof(value))
    if type(value) == "table" and prefix ~= "_G" then
        assert(table.isfrozen(value), prefix .. " can be written to")
        for key, member in value do
            add(prefix .. "." .. tostring(key), member)
        end
    end
end
for name, value in getmetatable(getfenv()).__index do
    add(name, value)
end
table.sort(names)
return table.concat(names, "\n")
"#;

#[tokio::test]
async fn globals_match_the_snapshot() {
    let run = IoDir::new().run(LISTING).await;
    let mut actual: String = run.outcome.decode().expect("a listing");
    actual.push('\n');
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/globals.txt");
    if env::var_os("UPDATE_FIXTURES").is_some() {
        fs::write(&path, &actual).expect("the snapshot");
    }
    assert_eq!(actual, fs::read_to_string(path).unwrap_or_default());
}

#[tokio::test]
async fn code_loading_and_collector_control_are_not_available() {
    let run = run("return loadstring or load or dofile or require or collectgarbage or gcinfo or sdk").await;
    assert_eq!(run.outcome.result.expect("a result").get(), "null");
}

#[tokio::test]
async fn without_io_there_are_no_file_functions() {
    let run = run("return io or file or os.remove or os.rename or require").await;
    assert_eq!(run.outcome.result.expect("a result").get(), "null");
}
