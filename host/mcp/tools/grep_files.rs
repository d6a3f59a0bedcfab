//! `grep_files`.

use super::{FileTool, ToolOutput, count, define_read_only, is_false, prepare};
use crate::{
    engine::IoOptions,
    files::{FileError, GrepQuery},
    text::one_line,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const GREP_FILES: FileTool = FileTool {
    name: "grep_files",
    define: || {
        define_read_only::<Arguments>(
            GREP_FILES.name,
            "Search in files",
            "Finds lines in text files of the sandbox that contain `pattern`, or match it as a regular expression if `regex` is true.",
        )
    },
    prepare: |arguments, _| prepare(arguments, |_| 0, grep),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    /// Directory or file to search. Default: the top directory.
    path: Option<String>,
    /// Names of the files to search, such as *.csv.
    glob: Option<String>,
    #[serde(default)]
    regex: bool,
}

#[derive(Serialize)]
struct Output {
    matches: Vec<Match>,
    /// Number of files searched.
    files: u64,
    /// Number of binary files skipped.
    binary: u64,
    /// Number of files that could not be read.
    skipped: u64,
    /// There are more matches.
    truncated: bool,
}

#[derive(Serialize)]
struct Match {
    path: String,
    line: u64,
    text: String,
    /// The line is longer than 1 KiB and truncated.
    #[serde(rename = "cut", skip_serializing_if = "is_false")]
    truncated: bool,
}

fn grep(arguments: Arguments, io: &IoOptions, is_wanted: &dyn Fn() -> bool) -> Result<ToolOutput, FileError> {
    let mut query = GrepQuery::new(arguments.pattern);
    query.path = arguments.path.unwrap_or(query.path);
    query.glob = arguments.glob;
    query.regex = arguments.regex;
    let found = io.files.grep(&query, is_wanted)?;
    let matches = found.matches.into_iter();
    let matches = matches.map(|found| Match { path: found.name, line: found.line, text: found.text, truncated: found.truncated }).collect();
    let output = Output { matches, files: found.files, binary: found.binary, skipped: found.skipped, truncated: found.truncated };
    Ok(ToolOutput::text(text(&output), &output))
}

fn text(output: &Output) -> String {
    let mut lines: Vec<String> = output.matches.iter().map(line).collect();
    if lines.is_empty() {
        lines.push(format!("(no matches in {})", count(output.files, "file", "files")));
    }
    if output.truncated {
        lines.push("(there are more; use a narrower pattern, path or glob)".into());
    }
    if output.binary > 0 {
        lines.push(format!("({} skipped)", count(output.binary, "binary file", "binary files")));
    }
    if output.skipped > 0 {
        lines.push(format!("({} could not be read)", count(output.skipped, "file", "files")));
    }
    lines.join("\n")
}

fn line(found: &Match) -> String {
    format!("{}:{}: {}{}", one_line(&found.path), found.line, found.text, if found.truncated { " (truncated)" } else { "" })
}
