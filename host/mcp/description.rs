//! What a model reads about `execute_script`, made from the configuration in force.

use crate::sdk::Sdk;
use crate::{
    Limits,
    engine::{IoErrorMode, IoOptions},
};
use std::fmt::Write as _;

/// A few words on what a script can do here.
pub fn tool(limits: &Limits, io: Option<&IoOptions>, sdk: Option<&Sdk>) -> String {
    let mut text = format!(
        "Runs a Luau script in a sandbox and returns {{result, logs, files_touched}}: what the script returned as JSON, what it printed, \
         and the files it changed.\n\n\
         A script has Luau's own libraries (string, table, math, buffer, bit32, utf8, os.time/date/clock), print(...), \
         progress(done, total?, message?), json.encode/decode/null/object. {} no require and no other program. \
         A table that is a sequence becomes an array, others an object; use json.null for null in arrays.\n\n\
         Limits: {} s, {} of memory, {} of result, {} of logs.",
        if sdk.is_some() { "There is no network but for sdk," } else { "There is no network," },
        limits.timeout.as_secs_f64(),
        bytes(limits.memory as u64),
        bytes(limits.result as u64),
        bytes(limits.logs as u64),
    );
    if let Some(sdk) = sdk {
        text.push_str(&apis(sdk, limits));
    }
    match io {
        None => text.push_str(
            "\n\nErrors are raised, and end the script unless pcall catches them. Files are switched off.\n\n\
             Example:\nlocal total = 0\nfor _, n in {3, 4, 5} do total += n end\nreturn {total = total}",
        ),
        Some(io) => {
            let errors = match io.errors {
                IoErrorMode::Return => "What the file system refuses is returned as nil, message, number; other errors are raised.",
                _ => "Errors are raised, those of files too, and end the script unless pcall catches them.",
            };
            text.push_str(&format!(
                "\n\nFiles: io.open(path, mode), io.lines(path), io.list(folder), os.remove(path), and h:read, h:write, h:lines, h:seek, \
                 h:close, as in Lua, with relative paths in one directory. A run may write {} and make {} files. {errors}\n\n\
                 Example:\nlocal out = io.open(\"squares.csv\", \"w\")\nfor n = 1, 3 do out:write(n, \",\", n * n, \"\\n\") end\nout:close()\n\
                 return {{files = io.list()}}",
                bytes(io.max_bytes),
                io.max_files,
            ));
        }
    }
    text
}

/// Functions that an API has at most for all of them to be named.
const FEW: usize = 12;

/// What a script can call.
fn apis(sdk: &Sdk, limits: &Limits) -> String {
    let mut text = format!(
        "\n\nAPIs, at most {} calls: sdk.API.function(params, body) returns the decoded body, then {{status, headers}}; errors are raised. \
         sdk.all{{{{sdk.f, params}}, {{sdk.g}}}} makes several calls at once and returns a table of results. sdk.search(words) finds functions, \
         sdk.docs(name) tells how to call one.",
        limits.api_calls
    );
    for source in sdk.sources() {
        let title = if source.title.is_empty() { &source.name } else { &source.title };
        let functions =
            if source.functions.len() <= FEW { source.functions.join(", ") } else { format!("{} functions", source.functions.len()) };
        let _ = match source.down {
            Some(why) => write!(text, "\n- sdk.{}: down now: {why}", source.name),
            None => write!(text, "\n- sdk.{}: {title} ({functions})", source.name),
        };
    }
    text
}

/// A size as a person says it.
fn bytes(count: u64) -> String {
    match count {
        count if count >= 1 << 20 && count.is_multiple_of(1 << 20) => format!("{} MiB", count >> 20),
        count if count >= 1 << 10 && count.is_multiple_of(1 << 10) => format!("{} KiB", count >> 10),
        count => format!("{count} bytes"),
    }
}
