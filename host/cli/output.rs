//! Standard output and standard error.
//!
//! Text from a script can contain escape sequences that attack a terminal. On a terminal its control characters are replaced by escapes;
//! in a pipe or a file the text is unchanged.

use super::{
    escape::{escape, escape_json},
    json_layout::write_indented,
};
use anstream::{AutoStream, ColorChoice, stream::RawStream};
use anstyle::{AnsiColor, Style};
use anyhow::{Context as _, Result};
use std::{
    borrow::Cow,
    io::{self, BufWriter, IsTerminal as _, Write},
};

const ERROR_STYLE: Style = AnsiColor::Red.on_default().bold();
const NOTE_STYLE: Style = AnsiColor::Cyan.on_default().bold();

/// Prints an error on standard error.
pub fn print_error(message: &str) {
    print_message(ERROR_STYLE, "error", message);
}

/// Prints a note on standard error.
pub fn print_note(message: &str) {
    print_message(NOTE_STYLE, "note", message);
}

fn print_message(style: Style, severity: &str, message: &str) {
    let mut output = Output::stderr();
    let severity = output.paint(style, severity);
    let message = output.escaped(message);
    output.plain(&format!("{severity}: {message}"));
    // A failure to write to standard error can't be reported.
}

/// Standard output or standard error. A broken pipe is not an error: the remaining output is discarded.
pub struct Output {
    stream: Box<dyn Write + Send>,
    name: &'static str,
    terminal: bool,
    colours: bool,
    state: io::Result<()>,
}

impl Output {
    /// Standard output.
    pub fn stdout() -> Self {
        Self::new("standard output", io::stdout())
    }

    /// Standard error.
    pub fn stderr() -> Self {
        Self::new("standard error", io::stderr())
    }

    /// The stream for everything but the result: standard output if it is a terminal, otherwise standard error, so that a program that
    /// reads the output gets the result alone.
    pub fn beside_result() -> Self {
        if io::stdout().is_terminal() { Self::stdout() } else { Self::stderr() }
    }

    fn new(name: &'static str, stream: impl RawStream + Send + 'static) -> Self {
        let terminal = stream.is_terminal();
        // Considers NO_COLOR, CLICOLOR and TERM.
        let colours = terminal && AutoStream::choice(&stream) != ColorChoice::Never;
        Self { stream: Box::new(stream), name, terminal, colours, state: Ok(()) }
    }

    /// Prints and flushes a line of text from a script. Returns `false` if the stream is closed.
    pub fn line(&mut self, line: &str) -> bool {
        let line = self.escaped(line);
        self.plain(&line);
        self.state.is_ok()
    }

    /// Returns text from a script, with escapes if the stream is a terminal.
    pub fn escaped<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.terminal { escape(text) } else { Cow::Borrowed(text) }
    }

    /// Returns escaped text from a script, coloured if colours are enabled.
    pub fn paint(&self, style: Style, text: &str) -> String {
        let text = self.escaped(text);
        if self.colours { format!("{style}{text}{style:#}") } else { text.into_owned() }
    }

    /// Prints and flushes a line that consists of painted text.
    pub fn plain(&mut self, line: &str) {
        // One write, so that lines of several threads are not mixed.
        self.write(|stream| stream.write_all(format!("{line}\n").as_bytes()).and_then(|()| stream.flush()));
    }

    /// Prints bytes unchanged. Returns `false` if the stream is closed.
    pub fn bytes(&mut self, bytes: &[u8]) -> bool {
        self.write(|stream| stream.write_all(bytes));
        self.state.is_ok()
    }

    /// Returns `true` if the stream is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Prints JSON text on one line.
    pub fn json(&mut self, json: &str) {
        let json = if self.terminal { escape_json(json) } else { Cow::Borrowed(json) };
        self.plain(&json);
    }

    /// Prints JSON text: indented and coloured on a terminal, otherwise on one line.
    pub fn json_for_reader(&mut self, json: &str) {
        if !self.terminal {
            return self.plain(json);
        }
        let colours = self.colours;
        self.write(|stream| {
            let mut stream = BufWriter::new(stream);
            write_indented(json, colours, &mut stream)?;
            stream.flush()
        });
    }

    fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.state.is_ok() {
            self.state = write(&mut self.stream);
        }
    }

    /// Flushes the stream and returns the first error, except a broken pipe.
    pub fn finish(mut self) -> Result<()> {
        let written = self.state.and_then(|()| self.stream.flush());
        let written = written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) });
        written.with_context(|| format!("can't write to {}", self.name))
    }
}
