//! Results, logs and lists of files that are too large for the context of a model. The model gets the head and the tail, and the whole is
//! saved as a file in the io directory.

use crate::{
    Outcome,
    engine::IoOptions,
    files::{FileError, FileKind, TouchedFile, WriteMode},
    random::random,
};
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;

/// The default size in bytes, as JSON, of a result and of a log that are shown completely.
pub const DEFAULT_INLINE: usize = 24 << 10;

/// The directory for saved outputs.
const DIRECTORY: &str = "outputs";

/// The number of saved outputs. The oldest are removed before new ones are saved, so that a model does not fill the disk by accident.
const MAX_SAVED: usize = 100;

/// The parts that are saved, with the extensions of their files.
const SAVED: [(&str, &str); 4] = [("result", "json"), ("result", "txt"), ("logs", "txt"), (FILES, "json")];

/// The key of the list of files in the outcome.
pub const FILES: &str = "files_touched";

/// The names of saved files, by the part of the outcome that they contain.
pub type SavedOutputs = BTreeMap<&'static str, String>;

/// The sizes in bytes, as JSON, above which the parts of an outcome are shortened. 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InlineLimits {
    pub result: usize,
    /// Logs and files.
    pub rest: usize,
}

/// A part of an outcome that is too large to be shown completely.
pub struct LargePart {
    /// The key in the outcome: `result`, `logs` or `files_touched`.
    key: &'static str,
    extension: &'static str,
    contents: String,
    /// The size to which the part is shortened.
    inline: usize,
}

impl LargePart {
    /// Returns the parts of an outcome that are larger than their limits.
    pub fn find(outcome: &Outcome, limits: InlineLimits) -> Vec<Self> {
        let mut parts = Vec::new();
        let inline = limits.result;
        if let Ok(json) = &outcome.result
            && inline > 0
            && json.get().len() > inline
        {
            parts.push(match serde_json::from_str::<String>(json.get()) {
                Ok(contents) => Self { key: "result", extension: "txt", contents, inline },
                Err(_) => Self { key: "result", extension: "json", contents: json.get().to_owned(), inline },
            });
        }
        let inline = limits.rest;
        if inline == 0 {
            return parts;
        }
        if outcome.logs.iter().map(|line| json_size(line)).sum::<usize>() > inline {
            parts.push(Self { key: "logs", extension: "txt", contents: outcome.logs.join("\n"), inline });
        }
        if let Ok(contents) = serde_json::to_string(&outcome.files_touched)
            && contents.len() > inline
        {
            parts.push(Self { key: FILES, extension: "json", contents, inline });
        }
        parts
    }

    /// The size of the contents in bytes.
    pub fn size(&self) -> usize {
        self.contents.len()
    }

    /// Saves the part as a new file, and returns its name. Blocks.
    pub fn save(&self, io: &IoOptions) -> Result<String, FileError> {
        let path = format!("{DIRECTORY}/{}-{:08x}.{}", self.key, random() >> 32, self.extension);
        io.files.write(&path, self.contents.as_bytes(), WriteMode::Create, &mut io.write_budget()).map(|written| written.name)
    }

    /// Replaces the part in the outcome by its head and tail, or a list of files by its first ones. `saved` is the name of its file, or the reason why there is none.
    pub fn shorten(&self, outcome: &mut Outcome, saved: Option<&Result<String, String>>) {
        if !outcome.truncated.contains(&self.key) {
            outcome.truncated.push(self.key);
        }
        if self.key == FILES {
            outcome.files_touched.truncate(files_that_fit(&outcome.files_touched, self.inline));
            return;
        }
        let (head, tail) = head_and_tail(&self.contents, self.inline / 2);
        let name = if self.key == "logs" { "log" } else { self.key };
        let omitted = self.contents.len() - head.len() - tail.len();
        let lines = if self.key == "logs" { format!(", {} lines in all", outcome.logs.len()) } else { String::new() };
        let file = match saved {
            Some(Ok(file)) => format!("; the whole {name} is in {file}"),
            Some(Err(reason)) => format!("; the whole {name} was not saved: {reason}"),
            None => String::new(),
        };
        let note = format!("[… {omitted} of {} bytes omitted{lines}{file} …]", self.contents.len());
        if self.key == "logs" {
            let ends = |text: &str| text.split('\n').map(String::from).collect::<Vec<_>>();
            outcome.logs = [ends(head), vec![note], ends(tail)].concat();
        } else {
            outcome.result = Ok(to_raw_value(&format!("{head}\n{note}\n{tail}")).unwrap_or_else(|_| RawValue::NULL.to_owned()));
        }
    }

    /// Returns the key of the part in the outcome.
    pub fn key(&self) -> &'static str {
        self.key
    }
}

/// Removes the oldest saved outputs, so that `new` ones can be added. Returns the names of the removed files. Blocks.
///
/// Removes only files whose names have the form that [`LargePart::save`] generates.
pub fn remove_oldest(io: &IoOptions, new: usize) -> Vec<String> {
    let mut saved = io.files.list(DIRECTORY).unwrap_or_default();
    saved.retain(|file| file.kind == FileKind::File && is_generated(&file.name));
    saved.sort_by(|first, second| (first.modified, &first.name).cmp(&(second.modified, &second.name)));
    saved.truncate(saved.len().saturating_sub(MAX_SAVED.saturating_sub(new)));
    saved.iter().filter_map(|file| io.files.remove(&format!("{DIRECTORY}/{}", file.name)).ok()).collect()
}

/// Returns `true` for a name such as `result-5f0c21aa.json`.
fn is_generated(name: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    SAVED.iter().any(|(key, extension)| {
        let number = name.strip_prefix(key).and_then(|rest| rest.strip_prefix('-')).and_then(|rest| rest.strip_suffix(extension));
        let number = number.and_then(|rest| rest.strip_suffix('.'));
        number.is_some_and(|number| number.len() == 8 && number.bytes().all(is_digit))
    })
}

/// Returns the number of files at the start of a list whose JSON has at most `inline` bytes.
fn files_that_fit(files: &[TouchedFile], inline: usize) -> usize {
    let mut size = 2;
    let fits = |file: &&TouchedFile| {
        size += serde_json::to_string(file).map_or(inline, |json| json.len() + 1);
        size <= inline
    };
    files.iter().take_while(fits).count()
}

/// Returns the start and the end of a text, each of at most `max` bytes as JSON. Both consist of whole lines unless that would halve
/// them.
fn head_and_tail(text: &str, max: usize) -> (&str, &str) {
    let mut size = 0;
    let mut fits = |character: char| {
        size += escaped_size(character);
        size <= max
    };
    let head = text.char_indices().find(|(_, character)| !fits(*character)).map_or(text.len(), |(position, _)| position);
    size = 0;
    let mut fits = |character: char| {
        size += escaped_size(character);
        size <= max
    };
    let mut tail = text.len();
    for (position, character) in text[head..].char_indices().rev() {
        if !fits(character) {
            break;
        }
        tail = head + position;
    }
    let (head, tail) = (&text[..head], &text[tail..]);
    let head = head.rfind('\n').filter(|end| *end >= head.len() / 2).map_or(head, |end| &head[..end]);
    let tail = tail.find('\n').filter(|end| *end <= tail.len() / 2).map_or(tail, |end| &tail[end + 1..]);
    (head, tail)
}

/// Returns the size of a string in JSON, with its quotes and a comma.
fn json_size(text: &str) -> usize {
    text.chars().map(escaped_size).sum::<usize>() + 3
}

/// Returns the size of a character in a JSON string.
fn escaped_size(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        other => other.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::{head_and_tail, is_generated, json_size};

    #[test]
    fn only_names_of_saved_outputs_are_generated() {
        for name in ["result-0123abcd.json", "result-0123abcd.txt", "logs-ffffffff.txt", "files_touched-00000000.json"] {
            assert!(is_generated(name), "{name}");
        }
        for name in [
            "result-0123abc.json",
            "result-0123abcde.json",
            "result-0123ABCD.json",
            "result-0123abcdjson",
            "result-0123abcd.json.txt",
            "logs-ffffffff.json",
            "report-0123abcd.json",
            "result-.json",
            "my-result-0123abcd.json",
            "result",
            "",
        ] {
            assert!(!is_generated(name), "{name}");
        }
    }

    #[test]
    fn head_and_tail_are_whole_lines_or_characters() {
        assert_eq!(head_and_tail("one\ntwo\nthree\nfour", 6), ("one", "four"));
        assert_eq!(head_and_tail("äöüäöü", 5), ("äö", "öü"));
        assert_eq!(head_and_tail("\u{1}\u{1}\u{1}", 6), ("\u{1}", "\u{1}"));
        // A line break at the far end of a part is ignored.
        assert_eq!(head_and_tail("a\n23456789012345678\nz", 8), ("a\n23456", "45678\nz"));
        assert_eq!(head_and_tail("short", 100), ("short", ""));
        assert_eq!(head_and_tail("abc", 0), ("", ""));
    }

    #[test]
    fn sizes_are_those_of_the_json_text() {
        for text in ["", "plain", "q\"\\\n\t\r\u{8}\u{c}", "\u{1}\u{1f}\u{7f}", "äöü€😀"] {
            assert_eq!(json_size(text), serde_json::to_string(text).unwrap().len() + 1, "{text:?}");
        }
    }
}
