//! Whoever a server works for: a local client, or one of many users, each with files, turns and a pace of their own.

use super::{arguments, changes::Changes, description, metrics::Metrics, result};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use rmcp::model::{Tool, ToolAnnotations};
use std::{num::NonZeroU32, sync::Arc};
use tokio_util::sync::CancellationToken;
use toolscript::{Engine, Io, Limits, Refusal, Run, RunOptions, Script, Share};

/// The tool that every server has.
pub const EXECUTE_SCRIPT: &str = "execute_script";

/// What all tenants of a server share.
pub struct Settings {
    pub engine: Engine,
    pub limits: Limits,
    pub metrics: Metrics,
    /// Ends whatever waits for news, so that the server can end once running scripts have.
    pub draining: CancellationToken,
    /// Ends all runs.
    pub shutdown: CancellationToken,
}

/// What one tenant may use of what all share.
#[derive(Clone, Copy, Debug)]
pub struct Allotment {
    /// Runs at once.
    pub running: usize,
    /// Runs that wait for one of those to end.
    pub waiting: usize,
    /// Runs that may begin in a minute.
    pub per_minute: NonZeroU32,
}

/// One tenant.
pub struct Tenant {
    pub settings: Arc<Settings>,
    pub io: Option<Io>,
    pub tool: Tool,
    pub changes: Changes,
    share: Option<Share>,
    pace: Option<(NonZeroU32, DefaultDirectRateLimiter)>,
}

/// Why a run was not made.
#[derive(Debug, thiserror::Error)]
pub enum NotRun {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("too many scripts: at most {0} may begin in a minute; try again later")]
    TooFast(NonZeroU32),
}

impl Tenant {
    /// A tenant that has the server to itself, or is allotted a part of it.
    pub fn new(settings: Arc<Settings>, io: Option<Io>, allotment: Option<Allotment>) -> Self {
        let tool = Tool::new(EXECUTE_SCRIPT, description::tool(&settings.limits, io.as_ref()), arguments::schema())
            .with_title("Execute a Luau script")
            .with_raw_output_schema(Arc::new(result::schema()))
            .with_annotations(ToolAnnotations::new().read_only(io.is_none()).destructive(io.is_some()).open_world(false));
        Self {
            settings,
            io,
            tool,
            changes: Changes::default(),
            share: allotment.map(|allotment| Share::new(allotment.running, allotment.waiting)),
            pace: allotment.map(|allotment| (allotment.per_minute, RateLimiter::direct(Quota::per_minute(allotment.per_minute)))),
        }
    }

    /// Runs a script when it is this tenant's turn.
    pub async fn run(&self, script: &Script, mut options: RunOptions) -> Result<Run, NotRun> {
        if let Some((per_minute, pace)) = &self.pace
            && pace.check().is_err()
        {
            self.settings.metrics.refused("pace");
            return Err(NotRun::TooFast(*per_minute));
        }
        options.io = self.io.clone();
        options.share = self.share.clone();
        let run = self.settings.engine.run(script, options).await.inspect_err(|refusal| {
            let reason = if matches!(refusal, Refusal::Busy { .. }) { "busy" } else { "invalid" };
            self.settings.metrics.refused(reason);
        })?;
        self.settings.metrics.ran(&run);
        Ok(run)
    }
}
