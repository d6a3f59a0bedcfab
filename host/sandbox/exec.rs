//! Runs scripts as commands, with text output and an exit code.

use super::{
    ExecOptions, Execution, Sandbox,
    luau_command::{Command, Source},
};
use crate::engine::{RunOptions, Script};

impl Sandbox {
    /// Runs Luau source text. If the options are invalid or the run is rejected, the output contains the error and the exit code is 2.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolscript::{Engine, Files, Functions, Sandbox, sandbox::ExecOptions};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path().join("files");
    /// let sandbox = Sandbox::new(Engine::new()?, Files::new(&directory)?);
    /// let functions = Functions::new().with_function("shout", |text: String| Ok::<_, String>(text.to_uppercase()))?;
    /// let options = ExecOptions::default().with_environment([("PLACE", "Oslo")]).with_functions(functions);
    ///
    /// let done = sandbox.exec("print(sdk.shout(env.PLACE)) error('no such street', 0)", options).await;
    /// assert_eq!(done.stdout(), "OSLO\n");
    /// assert!(done.stderr().starts_with("error: runtime: no such street\n"));
    /// assert_eq!(done.exit_code, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn exec(&self, script: impl Into<Vec<u8>>, options: ExecOptions) -> Execution {
        let mut io = self.io.clone();
        if let Some(directory) = &options.working_directory {
            io.files = match io.files.with_working_directory(directory) {
                Ok(files) => files,
                Err(error) => return Execution::rejected(&format!("invalid working directory: {error}")),
            };
        }
        let mut limits = self.limits.clone();
        limits.timeout = options.timeout.map_or(limits.timeout, |timeout| timeout.min(limits.timeout));
        let mut run_options = RunOptions::default().with_limits(limits).with_io(io).with_cancellation(options.cancellation);
        run_options.listener = options.listener;
        run_options.functions = options.functions;
        run_options.quota = self.run_quota.clone();
        let mut script = Script::new(script).with_arguments(options.arguments);
        script.environment = options.environment;
        match self.engine.run(&script, run_options).await {
            Ok(run) => Execution::from_run(run),
            Err(error) => Execution::rejected(&error.to_string()),
        }
    }

    /// Runs a `luau` command, the only one supported: `luau FILE [ARGS…]`, `luau -e CODE [ARGS…]`, or `luau - [ARGS…]` with the script as a
    /// here-document (`luau - <<'END'`, the script, `END`). Errors are reported in the output.
    pub async fn execute(&self, command: &str) -> Execution {
        self.execute_with(command, ExecOptions::default()).await
    }

    /// Runs a `luau` command with options, such as a timeout; see [`execute`](Self::execute). A path in the command starts at the working
    /// directory of the options.
    pub async fn execute_with(&self, command: &str, options: ExecOptions) -> Execution {
        match Command::parse(command) {
            Ok(command) => self.run_command(command, options).await,
            Err(reason) => Execution::rejected(&reason),
        }
    }

    pub(super) async fn run_command(&self, command: Command, mut options: ExecOptions) -> Execution {
        let Command { script, mut arguments } = command;
        let source = match script {
            Source::Text(text) => text.into_bytes(),
            Source::File(path) => {
                let (max_bytes, directory) = (self.limits.script as u64, options.working_directory.clone());
                let read = self.blocking(move |io| match directory {
                    Some(directory) => io.files.clone().with_working_directory(&directory)?.read_raw(&path, max_bytes),
                    None => io.files.read_raw(&path, max_bytes),
                });
                match read.await {
                    Ok(source) => source,
                    Err(error) => return Execution::rejected(&format!("can't read the script: {error}")),
                }
            }
        };
        arguments.append(&mut options.arguments);
        self.exec(source, ExecOptions { arguments, ..options }).await
    }
}
