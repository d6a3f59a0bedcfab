//! What a person sees: lines of a script, results and errors.
//!
//! Text of a script's is hostile on a terminal: its control characters are shown as escapes there, and passed on as they are
//! only into a pipe or a file.

use crate::text::one_line;
use crate::{Outcome, engine::Listener, files::TouchedFile};
use anstyle::Style;
use std::{
    borrow::Cow,
    io::{self, IsTerminal as _, Write as _},
    sync::mpsc::{self, Sender},
    thread::JoinHandle,
};

/// Prints one line of our own on standard error.
pub fn error_line(message: &str) {
    let message = if io::stderr().is_terminal() { escape(message) } else { Cow::Borrowed(message) };
    // There is nobody left to tell if standard error is gone.
    let _ = writeln!(io::stderr(), "error: {message}");
}

/// Prints a remark of our own on standard error.
pub fn note(message: &str) {
    let message = if io::stderr().is_terminal() { escape(message) } else { Cow::Borrowed(message) };
    let _ = writeln!(io::stderr(), "note: {message}");
}

/// Prints lines as they come, on a thread of its own: a reader that is slow, or has gone, must not hold up the script. The lines
/// that can wait for it are bounded by the run's log limit.
pub struct LivePrinter {
    lines: Sender<String>,
}

impl LivePrinter {
    /// The printer, and the thread to join after it was dropped.
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
        // The thread ends only after this sender is gone.
        let _ = self.lines.send(line.to_owned());
    }
}

/// Standard output. A broken pipe is not an error: the rest is not printed.
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
        // As https://no-color.org asks.
        let colours = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { stdout, terminal, colours, state: Ok(()) }
    }

    /// Prints a line of a script's and shows it at once; false if nobody reads it.
    pub fn line(&mut self, line: &str) -> bool {
        let line = if self.terminal { escape(line) } else { Cow::Borrowed(line) };
        self.write(&line);
        self.state.is_ok()
    }

    /// A text of a script's in a colour, where there are any, harmless on a terminal.
    pub fn paint(&self, style: Style, text: &str) -> String {
        let text = if self.terminal { escape(text) } else { Cow::Borrowed(text) };
        if self.colours { format!("{style}{text}{style:#}") } else { text.into_owned() }
    }

    /// Prints a line that was made of painted texts.
    pub fn plain(&mut self, line: &str) {
        self.write(line);
    }

    /// Prints bytes as they are; false if nobody reads them.
    pub fn bytes(&mut self, bytes: &[u8]) -> bool {
        if self.state.is_ok() {
            self.state = self.stdout.lock().write_all(bytes);
        }
        self.state.is_ok()
    }

    /// Whether a person reads this.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Prints JSON text. What could harm a terminal is inside strings, where JSON has its own escapes.
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

    /// What was not printed, and why.
    pub fn finish(mut self) -> io::Result<()> {
        self.state
            .and_then(|()| self.stdout.flush())
            .or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
    }
}

/// Prints the result, or the error and how it came to it, the files, and what was cut.
pub fn print_outcome(outcome: &Outcome) -> io::Result<()> {
    let mut output = Output::new();
    match &outcome.result {
        // A script that returns nothing has said all it had to say.
        Ok(result) if result.get() == "null" => {}
        Ok(result) => output.json(result.get()),
        Err(error) => {
            error_line(&format!("{}: {}", error.kind.name(), error.message));
            for frame in error.traceback.iter().flat_map(|traceback| traceback.lines()) {
                let _ = writeln!(io::stderr(), "  at {}", escape(frame));
            }
        }
    }
    for file in &outcome.files_touched {
        output.line(&touched(file));
    }
    if !outcome.truncated.is_empty() {
        note(&format!("cut at its limit: {}", outcome.truncated.join(", ")));
    }
    output.finish()
}

/// A file as a person reads of it.
fn touched(file: &TouchedFile) -> String {
    let name = one_line(&file.name);
    let size = file.bytes.map(|bytes| format!(" ({bytes} {})", if bytes == 1 { "byte" } else { "bytes" })).unwrap_or_default();
    let cut = if file.truncated { ", cut: the script was stopped before all of it was on disk" } else { "" };
    format!("{} {name}{size}{cut}", file.op.name())
}

/// Control characters as escapes, but for the tab; a newline inside a `print` stays one.
fn escape(text: &str) -> Cow<'_, str> {
    escape_with(text, |code| format!("\\u{{{code:x}}}"))
}

fn escape_with(text: &str, escape: impl Fn(u32) -> String) -> Cow<'_, str> {
    // Beside control characters: line separators, and what turns the direction of text around.
    let deceptive = |character: char| matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let harmful = |character: char| (character.is_control() && !matches!(character, '\t' | '\n')) || deceptive(character);
    if !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if harmful(character) {
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
