//! What a call does: it runs a script, or works on files, and tells those who want to hear of it.

use super::{
    arguments::{Wrong, invalid, shortened},
    notices::{Notices, Outlet, RequestStream},
    result,
    server::{Server, has_session, method_not_found},
    tenant::{NotRun, Settings},
    tools::{Work, script::Arguments},
};
use crate::sdk::{Secret, Session};
use crate::{
    RunOptions, Script,
    engine::{IoOptions, Listener, RunRejected},
};
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolResult, ContentBlock, ErrorCode, RequestMetaObject},
    service::RequestContext,
};
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc};
use tokio_util::sync::CancellationToken;

/// Too much is asked for at once; clients may try again.
const BUSY: ErrorCode = ErrorCode(-32000);

impl Server {
    /// Runs a script; what it says goes to the client meanwhile, and all of that is there before the result.
    pub(super) async fn execute(self, arguments: Arguments, context: RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
        let Settings { limits, shutdown, sdk, .. } = &*self.tenant.settings;
        let mut limits = limits.clone();
        limits.timeout = arguments.timeout.map_or(limits.timeout, |timeout| timeout.min(limits.timeout));
        let notices = Notices::new(self.level(&context), context.meta.get_progress_token());
        let cancellation = shutdown.child_token();
        let mut options = RunOptions::default().with_limits(limits).with_cancellation(cancellation.clone());
        if let Some(sdk) = sdk {
            let session = credentials(&context.meta)
                .and_then(|credentials| Session::new(Arc::clone(sdk), credentials).map_err(|error| error.to_string()));
            match session {
                Ok(session) => options = options.with_functions(session),
                Err(error) => return Err(invalid(&format!("`_meta.auth`: {error}"))),
            }
        }
        options.listener = notices.clone().map(|notices| notices as Arc<dyn Listener>);

        let stream = context.extensions.get::<RequestStream>().cloned();
        let closed = stream.as_ref().map(|stream| stream.closed.clone()).unwrap_or_default();
        let outlet = stream.map_or_else(|| Outlet::Peer(context.peer.clone()), Outlet::Stream);
        let script = Script::new(arguments.script);
        let mut run = std::pin::pin!(self.tenant.run(script, options));
        let mut forward = std::pin::pin!(async {
            match &notices {
                Some(notices) => notices.forward(&outlet).await,
                None => std::future::pending().await,
            }
        });
        let run = loop {
            tokio::select! {
                run = &mut run => break run,
                // It ends only after the run has.
                () = &mut forward => {}
                () = context.ct.cancelled(), if !cancellation.is_cancelled() => cancellation.cancel(),
                () = closed.cancelled(), if !cancellation.is_cancelled() => cancellation.cancel(),
            }
        };
        let run = match run {
            Ok(run) => run,
            Err(reason) => return not_run(reason),
        };
        // A client that has gone, or is about to, hears nothing more.
        if !cancellation.is_cancelled() {
            if let Some(notices) = &notices {
                notices.finish(forward).await;
            }
            let names: Vec<&str> = run.outcome.files_touched.iter().map(|file| file.name.as_str()).collect();
            self.tell(&names, &context).await;
        }
        Ok(result::of_run(run))
    }

    /// Works on files.
    pub(super) async fn work(self, work: Work, context: RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
        let answer = match self.look(&context, work.holds, work.run).await? {
            Ok(answer) => answer,
            Err(error) => return Ok(CallToolResult::error(vec![ContentBlock::text(error.to_string())])),
        };
        if let Some(name) = &answer.changed {
            self.tell(&[name], &context).await;
        }
        Ok(answer.into_result())
    }

    /// Tells those who want to hear of files that were changed.
    async fn tell(&self, names: &[&str], context: &RequestContext<RoleServer>) {
        let peer = has_session(context).then_some(&context.peer);
        self.tenant.changes.tell(names, &self.session.subscriptions, peer).await;
    }

    /// Work on the files, where it may block, until the client cancels it or goes away.
    pub(super) async fn look<R: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        holds: usize,
        work: impl FnOnce(&IoOptions, &dyn Fn() -> bool) -> R + Send + 'static,
    ) -> Result<R, ErrorData> {
        if self.tenant.io.is_none() {
            return Err(method_not_found());
        }
        let cancellation = CancellationToken::new();
        let closed = context.extensions.get::<RequestStream>().map(|stream| stream.closed.clone()).unwrap_or_default();
        let mut look = std::pin::pin!(self.tenant.look(holds, cancellation.clone(), work));
        let looked = loop {
            tokio::select! {
                looked = &mut look => break looked,
                () = context.ct.cancelled(), if !cancellation.is_cancelled() => cancellation.cancel(),
                () = closed.cancelled(), if !cancellation.is_cancelled() => cancellation.cancel(),
            }
        };
        looked.map_err(busy)?.ok_or_else(failed)
    }
}

/// The model mends its own mistakes; the rest is for its client.
fn not_run(reason: NotRun) -> Result<CallToolResult, ErrorData> {
    match reason {
        NotRun::Refused(refusal @ RunRejected::ScriptTooLarge { .. }) => Ok(result::of_mistake(&Wrong(format!("`script`: {refusal}")))),
        NotRun::Refused(RunRejected::Limit(limit)) => Ok(result::of_mistake(&Wrong(format!("`timeout_ms`: {limit}")))),
        NotRun::Failed(_) => Err(failed()),
        other => Err(busy(other)),
    }
}

/// What a client is told that is to try again.
pub fn busy(reason: NotRun) -> ErrorData {
    ErrorData::new(BUSY, reason.to_string(), None)
}

/// What the client brings for APIs: `auth` in the request's `_meta`, which no model reads.
fn credentials(meta: &RequestMetaObject) -> Result<BTreeMap<String, Secret>, String> {
    let Some(auth) = meta.get("auth") else { return Ok(BTreeMap::new()) };
    let Value::Object(auth) = auth else { return Err("it must be an object with a credential for each API".into()) };
    let credential = |(name, value): (&String, &Value)| match value {
        Value::String(text) if !text.is_empty() => Ok((name.clone(), Secret::new(text.as_str()))),
        _ => Err(format!("the credential of '{}' must be a string", shortened(name))),
    };
    auth.iter().map(credential).collect()
}

pub fn failed() -> ErrorData {
    ErrorData::internal_error("the server failed; the cause is in its log", None)
}
