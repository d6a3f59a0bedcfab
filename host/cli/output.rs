//! Standard output and standard error.
//!
//! Text from a script can contain escape sequences that attack a terminal. On a terminal its control characters are replaced by escapes;
//! in a pipe or a file the text is unchanged.

use crate::{Outcome, engine::Listener, files::TouchedFile, text::one_line};
use anstyle::Style;
use std::{
    borrow::Cow,
    io::{self, IsTerminal as _, Write as _},
    sync::mpsc::{self, Sender},
    thread::JoinHandle,
};

/// Prints an error on standard error.
pub fn print_error(message: &str) {
    print_message("error", message);
}

/// Prints a note on standard error.
pub fn print_note(message: &str) {
    print_message("note", message);
}

fn print_message(severity: &str, message: &str) {
    let message = if io::stderr().is_terminal() { escape(message) } else { Cow::Borrowed(message) };
    // A failure to write to standard error can't be reported.
    let _ = writeln!(io::stderr(), "{severity}: {message}");
}

/// Prints log lines while the script runs, on a separate thread so that a slow reader does not block the script.
///
/// The log limit of the run bounds the lines that wait.
pub struct LivePrinter {
    lines: Sender<String>,
}

impl LivePrinter {
    /// Returns the printer and its thread, which ends when the printer is dropped.
    pub fn start() -> (Self, JoinHandle<io::Result<()>>) {
        let (lines, queue) = mpsc::channel::<String>();
        let thread = std::thread::spawn(move || {
            let mut output = Output::new();
            for line in queue {
                output.line(&line);
            }
            output.finish()
        });
        (Self { lines }, thread)
    }
}

impl Listener for LivePrinter {
    fn line(&self, line: &str) {
        // The thread lives as long as this sender.
        let _ = self.lines.send(line.to_owned());
    }
}

/// Standard output. A broken pipe is not an error: the remaining output is discarded.
pub struct Output {
    stdout: io::Stdout,
    terminal: bool,
    colours: bool,
    state: io::Result<()>,
}

impl Output {
    pub fn new() -> Self {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        // See https://no-color.org.
        let colours = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { stdout, terminal, colours, state: Ok(()) }
    }

    /// Prints and flushes a line of text from a script. Returns `false` if standard output is closed.
    pub fn line(&mut self, line: &str) -> bool {
        let line = if self.terminal { escape(line) } else { Cow::Borrowed(line) };
        self.write(&line);
        self.state.is_ok()
    }

    /// Returns escaped text from a script, coloured if colours are enabled.
    pub fn paint(&self, style: Style, text: &str) -> String {
        let text = if self.terminal { escape(text) } else { Cow::Borrowed(text) };
        if self.colours { format!("{style}{text}{style:#}") } else { text.into_owned() }
    }

    /// Prints a line that consists of painted text.
    pub fn plain(&mut self, line: &str) {
        self.write(line);
    }

    /// Prints bytes unchanged. Returns `false` if standard output is closed.
    pub fn bytes(&mut self, bytes: &[u8]) -> bool {
        if self.state.is_ok() {
            self.state = self.stdout.lock().write_all(bytes);
        }
        self.state.is_ok()
    }

    /// Returns `true` if standard output is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Prints JSON text. Control characters can only be inside strings, where JSON escapes replace them.
    pub fn json(&mut self, json: &str) {
        let json = if self.terminal { escape_with(json, |code| format!("\\u{code:04x}")) } else { Cow::Borrowed(json) };
        self.write(&json);
    }

    fn write(&mut self, line: &str) {
        if self.state.is_ok() {
            let mut stdout = self.stdout.lock();
            self.state = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
        }
    }

    /// Flushes the output and returns the first error, except a broken pipe.
    pub fn finish(mut self) -> io::Result<()> {
        self.state
            .and_then(|()| self.stdout.flush())
            .or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
    }
}

/// Prints the result or the error with its traceback, the changed files, and what was truncated.
pub fn print_outcome(outcome: &Outcome) -> io::Result<()> {
    let mut output = Output::new();
    match &outcome.result {
        Ok(result) if result.get() == "null" => {}
        Ok(result) => output.json(result.get()),
        Err(error) => {
            print_error(&format!("{}: {}", error.kind.name(), error.message));
            for frame in error.traceback.iter().flat_map(|traceback| traceback.lines()) {
                let _ = writeln!(io::stderr(), "  at {}", escape(frame));
            }
        }
    }
    for file in &outcome.files_touched {
        output.line(&describe(file));
    }
    if !outcome.truncated.is_empty() {
        print_note(&format!("truncated at the limit: {}", outcome.truncated.join(", ")));
    }
    output.finish()
}

/// Describes a changed file in one line.
fn describe(file: &TouchedFile) -> String {
    let name = one_line(&file.name);
    let size = file.bytes.map(|bytes| format!(" ({bytes} {})", if bytes == 1 { "byte" } else { "bytes" })).unwrap_or_default();
    let incomplete = if file.truncated { ", incomplete: the script was stopped before all buffered data was written" } else { "" };
    format!("{} {name}{size}{incomplete}", file.op.name())
}

/// Replaces control characters other than tab and newline by escapes.
fn escape(text: &str) -> Cow<'_, str> {
    escape_with(text, |code| format!("\\u{{{code:x}}}"))
}

fn escape_with(text: &str, escape: impl Fn(u32) -> String) -> Cow<'_, str> {
    // Line separators and characters that change the text direction can hide or fake text.
    let is_deceptive = |character: char| matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_harmful = |character: char| (character.is_control() && !matches!(character, '\t' | '\n')) || is_deceptive(character);
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_harmful(character) {
            escaped.push_str(&escape(character.into()));
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn control_characters_are_escaped_and_text_is_not() {
        assert_eq!(escape("plain\tä 漢\n"), "plain\tä 漢\n");
        assert_eq!(escape("\x1b[31mred\x07\r\u{9b}2J\u{7f}"), "\\u{1b}[31mred\\u{7}\\u{d}\\u{9b}2J\\u{7f}");
    }
}
