//! What a model reads about `execute_script`, made from the configuration in force.

use toolscript::{Io, IoErrors, Limits};

/// A few words on what a script can do here.
pub fn tool(limits: &Limits, io: Option<&Io>) -> String {
    let mut text = format!(
        "Runs a Luau script in a sandbox and returns {{result, logs, files_touched}}: what the script returned as JSON, what it printed, \
         and the files it changed.\n\n\
         A script has Luau's own libraries (string, table, math, buffer, bit32, utf8, os.time/date/clock), print(...), \
         progress(done, total?, message?), json.encode/decode/null/object. There is no network, no require and no other program. \
         A table that is a sequence becomes an array, others an object; use json.null for null in arrays.\n\n\
         Limits: {} s, {} of memory, {} of result, {} of logs.",
        limits.timeout.as_secs_f64(),
        bytes(limits.memory as u64),
        bytes(limits.result as u64),
        bytes(limits.logs as u64),
    );
    match io {
        None => text.push_str(
            "\n\nErrors are raised, and end the script unless pcall catches them. Files are switched off.\n\n\
             Example:\nlocal total = 0\nfor _, n in {3, 4, 5} do total += n end\nreturn {total = total}",
        ),
        Some(io) => {
            let errors = match io.errors {
                IoErrors::Return => "What the file system refuses is returned as nil, message, number; other errors are raised.",
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

/// A size as a person says it.
fn bytes(count: u64) -> String {
    match count {
        count if count >= 1 << 20 && count.is_multiple_of(1 << 20) => format!("{} MiB", count >> 20),
        count if count >= 1 << 10 && count.is_multiple_of(1 << 10) => format!("{} KiB", count >> 10),
        count => format!("{count} bytes"),
    }
}
