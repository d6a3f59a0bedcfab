//! Signals whose disposition the process inherits.

use crate::support::kill_on_drop::KillOnDrop;
use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    process::{ChildStderr, Command, Stdio},
};
use tempfile::TempDir;

/// Runs until the test creates the file, or a signal stops it.
const SCRIPT: &str = "print('started') while not io.exists('go') do sleep(0.01) end return 7";

const SIGHUP: u32 = 1;
const SIGINT: u32 = 2;

struct Waiting {
    directory: TempDir,
    child: KillOnDrop,
    stderr: BufReader<ChildStderr>,
}

impl Waiting {
    /// Starts the script with a launcher, whose last argument is the program, and waits until it runs.
    fn start(launcher: &[&str]) -> Self {
        let directory = TempDir::new().expect("a directory");
        let mut command = Command::new(launcher[0]);
        command.args(&launcher[1..]).args([env!("CARGO_BIN_EXE_toolscript"), "run", "-e", SCRIPT]).current_dir(&directory);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = KillOnDrop(command.spawn().expect("a process"));
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        // nohup may print a note of its own first.
        let mut line = String::new();
        while line != "started\n" {
            line.clear();
            assert_ne!(stderr.read_line(&mut line).expect("a line"), 0, "the script did not start");
        }
        Self { directory, child, stderr }
    }

    fn send(&self, signal: &str) {
        assert!(Command::new("kill").arg(format!("-{signal}")).arg(self.child.id().to_string()).status().expect("kill").success());
    }

    /// Returns `true` if the process ignores the signal.
    fn ignores(&self, signal: u32) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("the status of the process");
        let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("the ignored signals");
        u64::from_str_radix(set.trim(), 16).expect("a set of signals") & (1 << (signal - 1)) != 0
    }

    /// Lets the script end.
    fn release(&self) {
        fs::create_dir_all(self.directory.path().join("toolscript-files/go")).expect("the file that ends the script");
    }

    /// Returns what the process prints until it ends, and its exit code.
    fn finish(mut self) -> (String, String, Option<i32>) {
        let (mut output, mut errors) = (String::new(), String::new());
        self.child.stdout.take().expect("a pipe").read_to_string(&mut output).expect("text");
        self.stderr.read_to_string(&mut errors).expect("text");
        (output, errors, self.child.wait().expect("an exit status").code())
    }
}

/// Returns a launcher that ignores these signals and no others, whatever the test inherited.
fn ignoring(signals: &str) -> [String; 3] {
    ["env".into(), "--default-signal=HUP,INT,TERM".into(), format!("--ignore-signal={signals}")]
}

#[test]
fn an_inherited_ignored_signal_stays_ignored() {
    for (launcher, ignored, sent) in [
        (&ignoring("HUP").each_ref().map(String::as_str)[..], &[SIGHUP][..], &["HUP", "HUP"][..]),
        (&ignoring("HUP,INT").each_ref().map(String::as_str), &[SIGHUP, SIGINT], &["INT", "HUP", "INT"]),
        (&["nohup"], &[SIGHUP], &["HUP", "HUP"]),
    ] {
        let waiting = Waiting::start(launcher);
        assert!(ignored.iter().all(|signal| waiting.ignores(*signal)), "{launcher:?}");
        sent.iter().for_each(|signal| waiting.send(signal));
        waiting.release();
        assert_eq!(waiting.finish(), ("7\n".into(), String::new(), Some(0)), "{launcher:?}");
    }
}

#[test]
fn other_signals_stop_the_script() {
    for (ignored, sent) in [("HUP", "INT"), ("INT", "HUP"), ("HUP,INT", "TERM"), ("TERM", "TERM")] {
        let waiting = Waiting::start(&ignoring(ignored).each_ref().map(String::as_str));
        waiting.send(sent);
        let cancelled = (String::new(), "error: cancelled: the run was cancelled\n".to_owned(), Some(130));
        assert_eq!(waiting.finish(), cancelled, "{sent}");
    }
}
