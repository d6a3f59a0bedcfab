//! A script that runs in the background.

use super::{ExecOptions, Execution, Sandbox};
use std::fmt;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

/// A script that runs in the background, as a task of the tokio runtime; see [`Sandbox::spawn`].
///
/// Dropping the handle stops the script.
pub struct ExecHandle {
    task: JoinHandle<Execution>,
    cancellation: CancellationToken,
    _kill_on_drop: DropGuard,
}

impl ExecHandle {
    /// Waits for the end of the script, and returns its output and exit code. Dropping the returned future stops the script.
    pub async fn wait(mut self) -> Execution {
        (&mut self.task).await.unwrap_or_else(|error| {
            tracing::error!(%error, "a script ended without a result");
            Execution::rejected("the run failed; the cause is in the host's log")
        })
    }

    /// Stops the script. [`wait`](Self::wait) then returns its output up to that point, with exit code 130. Does nothing if the script
    /// has ended.
    pub fn kill(&self) {
        self.cancellation.cancel();
    }

    /// Returns the token that [`kill`](Self::kill) cancels, to stop the script while another task waits for it.
    #[must_use]
    pub fn cancellation(&self) -> CancellationToken {
        self.cancellation.clone()
    }

    /// Returns `true` if the script has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }
}

impl fmt::Debug for ExecHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ExecHandle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}

impl Sandbox {
    /// Starts Luau source text in the background, with the same result as [`exec`](Self::exec). A [`Listener`](crate::engine::Listener)
    /// in the options receives its output while it runs.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolscript::{Engine, Files, Sandbox, sandbox::ExecOptions};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path().join("files");
    /// let sandbox = Sandbox::new(Engine::new()?, Files::new(&directory)?);
    /// let quick = sandbox.spawn("return 6 * 7", ExecOptions::default());
    /// let endless = sandbox.spawn("while true do end", ExecOptions::default());
    ///
    /// assert_eq!(quick.wait().await.stdout(), "42\n");
    /// endless.kill();
    /// assert_eq!(endless.wait().await.exit_code, 130);
    /// # Ok(())
    /// # }
    /// ```
    pub fn spawn(&self, script: impl Into<Vec<u8>>, mut options: ExecOptions) -> ExecHandle {
        let cancellation = options.cancellation.child_token();
        options.cancellation = cancellation.clone();
        let (sandbox, script) = (self.clone(), script.into());
        let task = tokio::spawn(async move { sandbox.exec(script, options).await });
        ExecHandle { task, _kill_on_drop: cancellation.clone().drop_guard(), cancellation }
    }
}
