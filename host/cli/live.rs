//! Log lines and progress while a script runs, on a separate thread so that a slow reader does not block the script.

use super::{escape::escape, output::Output};
use crate::{
    engine::{Listener, Progress},
    text::one_line,
};
use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    io::{self, IsTerminal as _},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, Sender},
    },
    thread::JoinHandle,
};

/// The maximum number of progress reports that wait to be shown. A script controls how many it makes; further ones are dropped.
const MAX_WAITING_REPORTS: usize = 1024;

/// The steps of the bar.
const BAR_STEPS: u64 = 1000;

/// The form in which progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressForm {
    /// Not at all.
    Hidden,
    /// One line per report on standard error.
    Lines,
    /// A bar on standard error, which is a terminal.
    Bar,
}

impl ProgressForm {
    /// Returns the form for standard error. `wanted` is the flag `--progress`.
    pub fn for_stderr(wanted: bool) -> Self {
        match (io::stderr().is_terminal(), wanted) {
            (true, _) => Self::Bar,
            (false, true) => Self::Lines,
            (false, false) => Self::Hidden,
        }
    }
}

/// Passes log lines and progress to the thread that prints them.
///
/// The log limit of the run bounds the lines that wait.
pub struct LivePrinter {
    events: Sender<Event>,
    waiting_reports: Arc<AtomicUsize>,
    prints_lines: bool,
    progress: ProgressForm,
}

enum Event {
    Line(String),
    Progress(Progress),
}

impl LivePrinter {
    /// Returns the printer and its thread, which ends when the printer is dropped.
    pub fn start(prints_lines: bool, progress: ProgressForm) -> (Self, JoinHandle<Result<()>>) {
        let (events, queue) = mpsc::channel();
        let waiting_reports = Arc::new(AtomicUsize::new(0));
        let waiting = Arc::clone(&waiting_reports);
        let thread = std::thread::spawn(move || {
            let mut display = Display { output: Output::beside_result(), progress, bar: None };
            for event in queue {
                match event {
                    Event::Line(line) => display.line(&line),
                    Event::Progress(progress) => {
                        waiting.fetch_sub(1, Ordering::Relaxed);
                        display.progress(&progress);
                    }
                }
            }
            display.finish()
        });
        (Self { events, waiting_reports, prints_lines, progress }, thread)
    }
}

impl Listener for LivePrinter {
    fn line(&self, line: &str) {
        if self.prints_lines {
            // The thread lives as long as this sender.
            let _ = self.events.send(Event::Line(line.to_owned()));
        }
    }

    fn progress(&self, progress: &Progress) {
        if self.progress == ProgressForm::Hidden {
            return;
        }
        if self.waiting_reports.fetch_add(1, Ordering::Relaxed) >= MAX_WAITING_REPORTS {
            self.waiting_reports.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let _ = self.events.send(Event::Progress(progress.clone()));
    }
}

/// The streams that the thread writes to.
struct Display {
    output: Output,
    progress: ProgressForm,
    bar: Option<ProgressBar>,
}

impl Display {
    fn line(&mut self, line: &str) {
        match &self.bar {
            // Removes the bar while the line is printed.
            Some(bar) => bar.suspend(|| self.output.line(line)),
            None => self.output.line(line),
        };
    }

    fn progress(&mut self, progress: &Progress) {
        let text = describe(progress);
        match self.progress {
            ProgressForm::Hidden => {}
            ProgressForm::Lines => {
                Output::stderr().line(&format!("progress: {text}"));
            }
            ProgressForm::Bar => {
                let bar = self.bar.get_or_insert_with(|| ProgressBar::with_draw_target(Some(BAR_STEPS), ProgressDrawTarget::stderr()));
                let (template, position) = match fraction(progress) {
                    Some(fraction) => ("[{bar:30}] {wide_msg}", fraction),
                    None => ("{spinner} {wide_msg}", 0.0),
                };
                if let Ok(style) = ProgressStyle::with_template(template) {
                    bar.set_style(style.progress_chars("=> "));
                }
                bar.set_message(escape(&text).into_owned());
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a fraction is from 0 to 1")]
                bar.set_position((position * BAR_STEPS as f64) as u64);
                bar.tick();
            }
        }
    }

    fn finish(self) -> Result<()> {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        self.output.finish()
    }
}

/// Returns the part of the work that is done, from 0 to 1, if the total is known.
fn fraction(progress: &Progress) -> Option<f64> {
    let fraction = progress.done / progress.total.filter(|total| *total > 0.0)?;
    Some(if fraction.is_finite() { fraction.clamp(0.0, 1.0) } else { 0.0 })
}

/// Describes a report in one line, such as `3/10 loading`.
fn describe(progress: &Progress) -> String {
    let total = progress.total.map(|total| format!("/{total}")).unwrap_or_default();
    let message = progress.message.as_ref().map(|message| format!(" {}", one_line(message))).unwrap_or_default();
    format!("{}{total}{message}", progress.done)
}
