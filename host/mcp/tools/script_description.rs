//! The description of `execute_script` for models, with the configured limits, files and APIs.

use crate::{
    Limits,
    engine::{IoErrorMode, IoOptions},
    sdk::Sdk,
};
use std::fmt::Write as _;

/// The maximum number of functions of an API to list by name.
const MAX_LISTED_FUNCTIONS: usize = 12;

/// Returns the description of the tool.
pub fn describe(limits: &Limits, io: Option<&IoOptions>, sdk: Option<&Sdk>) -> String {
    let mut text = format!(
        "Runs a Luau script in a sandbox and returns {{result, logs, files_touched}}: its return value as JSON, the lines that it \
         printed, and the files that it changed.\n\n\
         Available: string, table, math, buffer, bit32, utf8, os.time/date/clock, print(...), \
         progress(done, total?, message?), sleep(seconds), json.encode/decode/null/object. Not available: network{}, {}other programs. \
         A sequence table becomes a JSON array, other tables an object; use json.null for null in arrays.\n\n\
         Limits: {} s, {} of memory, {} of result, {} of logs.",
        if sdk.is_some() { " (except through sdk)" } else { "" },
        if io.is_some() { "" } else { "require, " },
        limits.timeout.as_secs_f64(),
        size(limits.memory as u64),
        size(limits.result as u64),
        size(limits.logs as u64),
    );
    if let Some(sdk) = sdk {
        text.push_str(&describe_apis(sdk, limits));
    }
    match io {
        None => text.push_str(
            "\n\nErrors are raised and end the script unless pcall catches them. File access is disabled.\n\n\
             Example:\nlocal total = 0\nfor _, n in {3, 4, 5} do total += n end\nreturn {total = total}",
        ),
        Some(io) => text.push_str(&describe_files(io)),
    }
    text
}

fn describe_files(io: &IoOptions) -> String {
    let errors = match io.errors {
        IoErrorMode::Return => "File system errors are returned as nil, message, code; other errors are raised.",
        _ => "Errors, including file errors, are raised and end the script unless pcall catches them.",
    };
    format!(
        "\n\nFiles: io.open(path, mode), io.lines(path), io.list(directory), io.exists(path), os.remove(path), os.rename(old, new), and h:read, h:write, h:lines, h:seek, \
         h:close, as in Lua, with relative paths in one directory. require(\"./lib/x\") loads lib/x.luau from it. A run can write {} and create {} files. {errors}\n\n\
         Example:\nlocal out = io.open(\"squares.csv\", \"w\")\nfor n = 1, 3 do out:write(n, \",\", n * n, \"\\n\") end\nout:close()\n\
         return {{files = io.list()}}",
        size(io.max_bytes),
        io.max_files,
    )
}

fn describe_apis(sdk: &Sdk, limits: &Limits) -> String {
    let mut text = format!(
        "\n\nAPIs, at most {} calls: sdk.API.function(params, body) returns the decoded body. Errors are raised and have err.status, \
         err.body, err.headers, err.retry_after. sdk.response(sdk.f, params, body) returns {{ok, status, headers, body}} and does not raise for a status. \
         sdk.all({{{{sdk.f, params}}, {{sdk.g}}}}, {{errors = \"return\"}}) makes calls at once and returns a table of bodies, {{error = err}} for a failed call. \
         sdk.search(words) finds functions, \
         sdk.docs(name) returns how to call one.",
        limits.api_calls
    );
    for source in sdk.sources() {
        let title = if source.title.is_empty() { &source.name } else { &source.title };
        let functions = match source.functions.len() {
            number if number <= MAX_LISTED_FUNCTIONS => source.functions.join(", "),
            number => format!("{number} functions"),
        };
        let _ = match source.down {
            Some(reason) => write!(text, "\n- sdk.{}: unavailable now: {reason}", source.name),
            None => write!(text, "\n- sdk.{}: {title} ({functions})", source.name),
        };
    }
    text
}

/// Formats a size in MiB or KiB if it is a multiple of one, and otherwise in bytes.
fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        bytes if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        bytes => format!("{bytes} bytes"),
    }
}
