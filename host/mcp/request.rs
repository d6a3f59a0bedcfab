//! Requests that run a script or a file job, until they end or the client cancels them.

use super::{
    arguments::{InvalidArgument, invalid_params},
    client_session::{ClientSession, has_session},
    file_job::FileJob,
    handler::method_not_found,
    large_output::{self, LargePart, SavedOutputs},
    large_response::{self, LARGE_RESPONSE},
    response_limit, response_size,
    run_notifications::{NotificationSink, RequestStream, RunNotifications},
    script_result,
    tenant::{RequestRejected, Tenant},
    tools::{ToolOutput, check_script, execute_script},
};
use crate::{
    Outcome, Run, RunOptions, Script,
    engine::{Listener, RunRejected},
    files::FileError,
    sdk::Session,
};
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolResult, ContentBlock, ErrorCode, ReadResourceResult},
    service::RequestContext,
};
use serde::Serialize;
use std::{convert::Infallible, pin::pin, sync::Arc};
use tokio_util::sync::CancellationToken;

/// The JSON-RPC error code for a request that the client can retry.
const BUSY: ErrorCode = ErrorCode(-32000);

/// The approximate size of a file in `files_touched`, without its name, in bytes.
const FILE_ENTRY_BYTES: usize = 64;

/// One request of a client.
pub struct Request {
    pub tenant: Arc<Tenant>,
    pub session: Arc<ClientSession>,
    pub context: RequestContext<RoleServer>,
}

impl Request {
    /// Runs a script. Sends its log lines and progress to the client while it runs, and all of them before the result.
    pub async fn execute_script(self, arguments: execute_script::Arguments) -> Result<CallToolResult, ErrorData> {
        let state = &self.tenant.state;
        let mut limits = state.limits.clone();
        limits.timeout = arguments.timeout().map_or(limits.timeout, |timeout| timeout.min(limits.timeout));
        let cancellation = state.shutdown.child_token();
        let mut options = RunOptions::default().with_limits(limits).with_cancellation(cancellation.clone());
        options.check = arguments.check.unwrap_or(state.check);
        if let Some(sdk) = &state.sdk {
            let credentials = execute_script::credentials(&self.context.meta);
            match credentials.and_then(|credentials| Session::new(Arc::clone(sdk), credentials).map_err(|error| error.to_string())) {
                Ok(session) => options = options.with_functions(session),
                Err(error) => return Err(invalid_params(&format!("`_meta.auth`: {error}"))),
            }
        }
        let notifications = RunNotifications::new(self.session.level(&self.context), self.context.meta.get_progress_token());
        options.listener = notifications.clone().map(|notifications| notifications as Arc<dyn Listener>);

        let sink = NotificationSink::of(&self.context);
        let mut forward = pin!(async {
            match &notifications {
                Some(notifications) => notifications.forward(&sink).await,
                None => std::future::pending().await,
            }
        });
        let run = self.cancel_and_wait(&cancellation, async {
            let mut run = pin!(self.tenant.run(Script::new(arguments.script), options));
            loop {
                tokio::select! {
                    run = &mut run => break run,
                    // Ends only after `RunNotifications::finish`.
                    () = &mut forward => {}
                }
            }
        });
        let mut run = match run.await {
            Ok(run) => run,
            Err(rejected) => return rejected_run(rejected),
        };
        let parts;
        (run, parts) = self.find_large_parts(run).await?;
        let touched: Vec<String> = run.outcome.files_touched.iter().map(|file| file.name.clone()).collect();
        let (outputs, removed) = self.shorten_outputs(&mut run.outcome, parts, &cancellation).await;
        // A client that cancelled the request expects no notifications.
        if !cancellation.is_cancelled() {
            if let Some(notifications) = &notifications {
                notifications.finish(forward).await;
            }
            let names: Vec<&str> = touched.iter().chain(outputs.values()).chain(&removed).map(String::as_str).collect();
            self.notify_changes(&names).await;
        }
        let touched = touched.len();
        if outcome_size(&run.outcome) < LARGE_RESPONSE {
            return Ok(script_result::of_run(&run, touched, &outputs));
        }
        large_response::announce(&self.context, LARGE_RESPONSE);
        self.tenant.run_response_job(move || script_result::of_run(&run, touched, &outputs)).await.map_err(|_| internal_error())
    }

    /// Finds mistakes in a script without running it.
    pub async fn check_script(self, arguments: check_script::Arguments) -> Result<CallToolResult, ErrorData> {
        let checked = self.tenant.check(Script::new(arguments.script)).await;
        match checked {
            Ok(checked) => self.limit_tool_result(check_script::output(&checked).into_result()).await,
            Err(rejected) => rejected_run(rejected),
        }
    }

    /// Rejects a result that is nested too deep or too large, and returns the parts of the outcome that are too large to be shown completely.
    async fn find_large_parts(&self, mut run: Run) -> Result<(Run, Vec<LargePart>), ErrorData> {
        let (inline, max_response) = (self.tenant.state.inline, self.tenant.state.max_response);
        let is_large = outcome_size(&run.outcome) >= LARGE_RESPONSE;
        let find = move || {
            script_result::reject_deep_result(&mut run.outcome);
            let limits = response_limit::bound(&mut run.outcome, inline, max_response);
            let parts = LargePart::find(&run.outcome, limits);
            (run, parts)
        };
        if is_large { self.tenant.run_response_job(find).await.map_err(|_| internal_error()) } else { Ok(find()) }
    }

    /// Saves a large result, a large log and a long list of files as files, and shortens them in the outcome. Returns the names of the new
    /// files, and those of old ones that were removed for them.
    async fn shorten_outputs(
        &self,
        outcome: &mut Outcome,
        parts: Vec<LargePart>,
        cancellation: &CancellationToken,
    ) -> (SavedOutputs, Vec<String>) {
        let parts = Arc::new(parts);
        if parts.is_empty() {
            return (SavedOutputs::new(), Vec::new());
        }
        let saving = Arc::clone(&parts);
        let job = FileJob::new(parts.iter().map(LargePart::size).sum(), move |io, _| {
            let removed = large_output::remove_oldest(io, saving.len());
            let saved: Vec<_> = saving.iter().map(|part| part.save(io).map_err(|error| error.to_string())).collect();
            (saved, removed)
        })
        .changing_files();
        let (saved, removed) = match self.tenant.run_part_of_request(job, cancellation.clone()).await {
            Ok(saved) => saved.unwrap_or_default(),
            Err(rejected) => (parts.iter().map(|_| Err(rejected.to_string())).collect(), Vec::new()),
        };
        for (index, part) in parts.iter().enumerate() {
            part.shorten(outcome, saved.get(index));
        }
        let keys = parts.iter().map(LargePart::key);
        (keys.zip(saved).filter_map(|(key, saved)| saved.ok().map(|name| (key, name))).collect(), removed)
    }

    /// Runs the job of a file tool.
    pub async fn call_file_tool(self, job: FileJob<Result<ToolOutput, FileError>>) -> Result<CallToolResult, ErrorData> {
        let output = match self.run_file_job(job).await? {
            Ok(output) => output,
            Err(error) => return Ok(CallToolResult::error(vec![ContentBlock::text(error.to_string())])),
        };
        if let Some(name) = &output.changed_file {
            self.notify_changes(&[name]).await;
        }
        self.limit_tool_result(output.into_result()).await
    }

    /// Returns the result of a tool that runs no script, or an error if it is too large.
    pub async fn limit_tool_result(&self, result: CallToolResult) -> Result<CallToolResult, ErrorData> {
        let size = response_size::of_tool_result(&result, LARGE_RESPONSE);
        let checked = self.check_response(result, size).await?;
        Ok(checked.unwrap_or_else(|error| CallToolResult::error(vec![ContentBlock::text(error)])))
    }

    /// Returns the contents of a resource, or an error if they are too large.
    pub async fn limit_resource(&self, contents: ReadResourceResult) -> Result<ReadResourceResult, ErrorData> {
        let size = response_size::of_resource(&contents);
        self.check_response(contents, size).await?.map_err(|error| ErrorData::invalid_params(format!("`uri`: {error}"), None))
    }

    /// Announces a response if it is large, and checks its size. `bytes` is its size in memory, approximately, or less if it is large.
    async fn check_response<T: Serialize + Send + 'static>(&self, response: T, bytes: usize) -> Result<Result<T, String>, ErrorData> {
        // As JSON, it is at most six times as large, which is below the smallest limit.
        if bytes < LARGE_RESPONSE {
            return Ok(Ok(response));
        }
        large_response::announce(&self.context, bytes);
        let limit = self.tenant.state.max_response;
        let check = move || response_limit::check(&response, limit).map(|()| response);
        self.tenant.run_response_job(check).await.map_err(|_| internal_error())
    }

    /// Runs a file job until it ends or the client cancels the request.
    pub async fn run_file_job<R: Send + 'static>(&self, job: FileJob<R>) -> Result<R, ErrorData> {
        if self.tenant.io.is_none() {
            return Err(method_not_found());
        }
        let cancellation = CancellationToken::new();
        let result = self.cancel_and_wait(&cancellation, self.tenant.run_file_job(job, cancellation.clone())).await;
        result.map_err(busy)?.ok_or_else(internal_error)
    }

    /// Waits for `work`. Cancels `cancellation` when the client cancels the request or its session ends, and then still waits,
    /// because cancelled work has a result too.
    async fn cancel_and_wait<T>(&self, cancellation: &CancellationToken, work: impl Future<Output = T>) -> T {
        let session_closed = self.context.extensions.get::<RequestStream>().map(|stream| stream.closed.clone()).unwrap_or_default();
        let cancel = async {
            tokio::select! {
                () = self.context.ct.cancelled() => {}
                () = session_closed.cancelled() => {}
            }
            cancellation.cancel();
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            result = work => result,
            never = cancel => match never {},
        }
    }

    /// Notifies subscribers of changed files.
    async fn notify_changes(&self, names: &[&str]) {
        let is_connection = has_session(&self.context) && self.session.notifications.is_none();
        let peer = is_connection.then_some(&self.context.peer);
        self.tenant.file_changes.notify(names, &self.session.subscriptions, peer).await;
    }
}

/// Returns the approximate size of an outcome in bytes.
fn outcome_size(outcome: &Outcome) -> usize {
    let result = outcome.result.as_ref().map_or(0, |json| json.get().len());
    let logs: usize = outcome.logs.iter().map(String::len).sum();
    let files: usize = outcome.files_touched.iter().map(|file| FILE_ENTRY_BYTES + file.name.len()).sum();
    result + logs + files
}

/// Returns a failed result for a mistake of the model, which it can correct, and a protocol error for everything else.
fn rejected_run(rejected: RequestRejected) -> Result<CallToolResult, ErrorData> {
    match rejected {
        RequestRejected::Run(rejected @ RunRejected::ScriptTooLarge { .. }) => {
            Ok(InvalidArgument(format!("`script`: {rejected}")).into_result())
        }
        RequestRejected::Run(RunRejected::Limit(limit)) => Ok(InvalidArgument(format!("`timeout_ms`: {limit}")).into_result()),
        other => Err(busy(other)),
    }
}

/// Returns a retryable "busy" error, or the error for a failure of the server.
pub fn busy(rejected: RequestRejected) -> ErrorData {
    match rejected {
        RequestRejected::Failed(_) => internal_error(),
        other => ErrorData::new(BUSY, other.to_string(), None),
    }
}

/// Returns the error for a failure of the server. It contains no details, because they may be secret.
pub fn internal_error() -> ErrorData {
    ErrorData::internal_error("the server failed; the cause is in its log", None)
}
