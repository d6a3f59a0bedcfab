//! The description of `execute_script` for models, with the configured limits, files and APIs.
//!
//! A model reads it in every conversation, so it states only what a script needs and what differs from other Luas.

use crate::{
    Limits,
    engine::{IoErrorMode, IoOptions},
    sdk::{Sdk, Source, SourceKind},
};
use std::fmt::Write as _;

/// The maximum number of functions of an API to list by name.
const MAX_LISTED_FUNCTIONS: usize = 24;

/// Returns the description of a tool that runs scripts, for a model. The tool `execute_script` of an MCP server has it.
///
/// `functions` are the functions that the program itself provides: the signature of each, such as `sdk.add(a: number): number`, and its
/// summary.
///
/// ```
/// use toolscript::{Limits, mcp::script_description};
///
/// let functions = [("sdk.add(a: number, b: number): number".to_owned(), "Adds numbers.".to_owned())];
/// let text = script_description(&Limits::default(), None, &[], &functions);
/// assert!(text.contains("\n- sdk.add(a: number, b: number): number: Adds numbers."));
/// ```
pub fn script_description(limits: &Limits, io: Option<&IoOptions>, sdks: &[&Sdk], functions: &[(String, String)]) -> String {
    let has_functions = !sdks.is_empty() || !functions.is_empty();
    let mut text = format!(
        "Runs a Luau script in a sandbox and returns {{result, logs, files_touched}}: its return value as JSON, the lines that it \
         printed, the files that it changed. Each run starts fresh{}.\n\n\
         Luau is Lua 5.1 with +=, continue, //, `{{x}}` strings and types. There is no goto (use continue), no <const> and no bit \
         operator (use bit32). \
         Available: string, table, math, bit32, utf8, buffer, print(...), sleep(seconds), progress(done, total?, message?), \
         json.encode(value, {{indent = true}}), json.decode(text), base64.encode/decode, os.time/date/clock (dates are UTC). \
         Not available: network{}, other programs.\n\n\
         JSON: null in an object is nil, in an array json.null. A sequence becomes an array, another table an object; \
         json.object({{}}) is an empty object. Integers beyond 2^53 are strings.\n\n\
         Limits: {} s, {} of memory, {} of result.",
        if io.is_some() { "; keep state in files" } else { "" },
        if has_functions { " (except through sdk)" } else { "" },
        limits.timeout.as_secs_f64(),
        size(limits.memory as u64),
        size(limits.result as u64),
    );
    if !functions.is_empty() {
        text.push_str(&describe_functions(functions, limits));
    }
    if !sdks.is_empty() {
        text.push_str(&describe_apis(sdks, limits));
    }
    match io {
        None => text.push_str(
            "\n\nErrors are raised; catch them with pcall. File access is disabled.\n\n\
             Example:\nlocal total = 0\nfor _, n in {3, 4, 5} do total += n end\nreturn {total = total}",
        ),
        Some(io) => text.push_str(&describe_files(io)),
    }
    text
}

fn describe_files(io: &IoOptions) -> String {
    let errors = match io.errors {
        IoErrorMode::Return => "File system errors are returned as nil, message, code; other errors are raised.",
        _ => "Errors are raised, also by io.open for a missing file: check io.exists(path) first, or use pcall.",
    };
    format!(
        "\n\nFiles: io.open(path, mode), io.lines(path), io.list(directory), io.exists(path), os.remove(path), os.rename(old, new) and \
         h:read, h:write, h:lines, h:seek, h:close, as in Lua, with relative paths in one directory. require(\"./lib/x\") loads the \
         module lib/x.luau from it. A run can write {} and create {} files. {errors}\n\n\
         Example:\nlocal out = io.open(\"squares.csv\", \"w\")\nfor n = 1, 3 do out:write(n, \",\", n * n, \"\\n\") end\nout:close()\n\
         return {{files = io.list()}}",
        size(io.max_bytes),
        io.max_files,
    )
}

fn describe_functions(functions: &[(String, String)], limits: &Limits) -> String {
    // The parameters of some functions are not known.
    let arguments = if functions.iter().all(|(signature, _)| signature.contains("(...)")) {
        "they take the arguments that their documentation names"
    } else {
        "they take their arguments in order, or one table with the arguments by name"
    };
    let mut text = format!(
        "\n\nFunctions, at most {} calls: {arguments}, and return one value. \
         A failed call raises err; tostring(err) is the message. sdk.all({{{{sdk.f, argument}}, {{sdk.g}}}}, {{errors = \"return\"}}) makes \
         calls at once and returns their results in order, {{error = err}} for a failed one. sdk.docs(name) returns more about a function.",
        limits.api_calls
    );
    for (signature, summary) in functions.iter().take(MAX_LISTED_FUNCTIONS) {
        let _ = write!(text, "\n- {signature}{}{summary}", if summary.is_empty() { "" } else { ": " });
    }
    if let Some(more) = functions.len().checked_sub(MAX_LISTED_FUNCTIONS).filter(|more| *more > 0) {
        let _ = write!(text, "\n- {more} more; sdk.search(words) finds them");
    }
    text
}

fn describe_apis(sdks: &[&Sdk], limits: &Limits) -> String {
    let sources: Vec<Source> = sdks.iter().flat_map(|sdk| sdk.sources()).collect();
    let mut text = format!(
        "\n\nFunctions, at most {} calls: sdk.API.name(params, body) returns one value, the decoded body. A failed call raises err with \
         err.status and err.body; tostring(err) is the message. sdk.response(sdk.API.name, params, body) raises no error for a status and \
         returns {{ok, status, headers, body}}. \
         sdk.all({{{{sdk.API.f, params}}, {{sdk.API.g}}}}, {{errors = \"return\"}}) makes calls at once and returns their results in order, \
         {{error = err}} for a failed one.",
        limits.api_calls
    );
    if sources.iter().any(|source| source.kind == SourceKind::Mcp) {
        text.push_str(
            " A tool of an MCP server takes one table and returns its structured content (the value of result alone, if the schema has \
             nothing else), otherwise its text as a string (already decoded if it is JSON and the tool has an output schema, else \
             json.decode it), an image as {mime_type, data} with its bytes, several blocks as a list. Its err.status is nil.",
        );
    }
    text.push_str(" sdk.search(words) finds functions; sdk.docs(name) returns parameters and types.");
    for source in sources {
        let title = if source.title.is_empty() { &source.name } else { &source.title };
        let functions = match source.functions.len() {
            number if number <= MAX_LISTED_FUNCTIONS => source.functions.join(", "),
            number => format!("{number} functions"),
        };
        let _ = match source.down {
            Some(reason) => write!(text, "\n- sdk.{}: unavailable now: {reason}", source.name),
            None if source.is_starting => write!(text, "\n- sdk.{}: still starting; calls wait for it", source.name),
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
