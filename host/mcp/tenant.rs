//! Whoever a server works for: a local client, or one of many users, each with files, turns and a pace of their own.

use super::{
    changes::Changes,
    metrics::Metrics,
    tools::{DOCS_TOOLS, FILE_TOOLS, script},
};
use crate::sdk::Sdk;
use crate::{
    Engine, Limits, Run, RunOptions, Script,
    engine::{IoOptions, RunQuota, RunRejected},
};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use rmcp::model::Tool;
use std::{
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};
use tokio::{runtime::Handle, sync::Semaphore, task::JoinError};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// What a look at the files holds while it waits, at least in bytes, and how many of that size there may be: 32 MiB in all.
const LOOK: usize = 256 << 10;
const MAX_LOOKS: usize = 128;

/// What all tenants of a server share.
pub struct Settings {
    pub engine: Engine,
    pub limits: Limits,
    /// Functions of scripts that lead out.
    pub sdk: Option<Arc<Sdk>>,
    pub metrics: Metrics,
    /// Where scripts run, if not on the threads that answer clients: those then never wait behind a script that is busy.
    pub scripts: Option<Handle>,
    /// Runs that are under way or wait for their turn.
    pub runs: TaskTracker,
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
    /// Runs, and looks at files, that may begin in a minute.
    pub per_minute: NonZeroU32,
}

/// One tenant.
pub struct Tenant {
    pub settings: Arc<Settings>,
    pub io: Option<IoOptions>,
    /// The tools, as they were at a revision of the functions.
    told: Mutex<Option<(u64, Arc<Vec<Tool>>)>>,
    pub changes: Changes,
    /// One look at the files at a time, however many are asked for.
    looking: Arc<Semaphore>,
    /// What those hold that wait for it.
    room: Arc<Semaphore>,
    share: Option<RunQuota>,
    pace: Option<(NonZeroU32, DefaultDirectRateLimiter)>,
}

/// Why a run was not made.
#[derive(Debug, thiserror::Error)]
pub enum NotRun {
    #[error(transparent)]
    Refused(#[from] RunRejected),
    #[error("the server failed; the cause is in its log")]
    Failed(#[from] JoinError),
    #[error("busy: too much work on files is waiting; try again later")]
    Full,
    #[error("too many requests: at most {0} may begin in a minute; try again later")]
    TooFast(NonZeroU32),
}

impl Tenant {
    /// A tenant that has the server to itself, or is allotted a part of it.
    pub fn new(settings: Arc<Settings>, io: Option<IoOptions>, allotment: Option<Allotment>) -> Self {
        Self {
            settings,
            io,
            told: Mutex::default(),
            changes: Changes::default(),
            looking: Arc::new(Semaphore::new(1)),
            room: Arc::new(Semaphore::new(MAX_LOOKS)),
            share: allotment.map(|allotment| RunQuota::new(allotment.running, allotment.waiting)),
            pace: allotment.map(|allotment| (allotment.per_minute, RateLimiter::direct(Quota::per_minute(allotment.per_minute)))),
        }
    }

    /// The tools that there are. What they say of functions changes with the servers behind those.
    pub fn tools(&self) -> Arc<Vec<Tool>> {
        let revision = self.settings.sdk.as_ref().map_or(0, |sdk| sdk.revision());
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        match &*told {
            Some((made, tools)) if *made == revision => Arc::clone(tools),
            _ => {
                let tools = Arc::new(self.define_tools());
                *told = Some((revision, Arc::clone(&tools)));
                tools
            }
        }
    }

    fn define_tools(&self) -> Vec<Tool> {
        let sdk = self.settings.sdk.as_deref();
        let mut tools = vec![script::definition(&self.settings.limits, self.io.as_ref(), sdk)];
        if self.io.is_some() {
            tools.extend(FILE_TOOLS.iter().map(|tool| (tool.definition)()));
        }
        if sdk.is_some() {
            tools.extend(DOCS_TOOLS.iter().map(|tool| (tool.definition)()));
        }
        tools
    }

    /// Works on the files, where that may block; nothing if there are none, or the request was cancelled. The work is told of that, and
    /// of the time that a script would have. `holds` are the bytes that wait with it.
    ///
    /// # Errors
    ///
    /// When the tenant asks too often, or too much of it waits already.
    pub async fn look<R: Send + 'static>(
        &self,
        holds: usize,
        cancelled: CancellationToken,
        work: impl FnOnce(&IoOptions, &dyn Fn() -> bool) -> R + Send + 'static,
    ) -> Result<Option<R>, NotRun> {
        let Some(io) = self.io.clone() else { return Ok(None) };
        self.check_pace()?;
        let shares = u32::try_from(holds / LOOK + 1).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).try_acquire_many_owned(shares).map_err(|_| {
            self.settings.metrics.refused("busy");
            NotRun::Full
        })?;
        let under_way = self.settings.runs.token();
        let turn = Arc::clone(&self.looking).acquire_owned();
        let Some(turn) = cancelled.run_until_cancelled(turn).await else { return Ok(None) };
        let (timeout, shutdown) = (self.settings.limits.timeout, self.settings.shutdown.clone());
        let look = move || {
            let started = Instant::now();
            let is_wanted = || !cancelled.is_cancelled() && !shutdown.is_cancelled() && started.elapsed() < timeout;
            let seen = work(&io, &is_wanted);
            drop((turn, room, under_way));
            seen
        };
        // A search is as busy as a script.
        let looking = match &self.settings.scripts {
            Some(scripts) => scripts.spawn_blocking(look),
            None => tokio::task::spawn_blocking(look),
        };
        Ok(looking.await.ok())
    }

    /// Refuses what comes too fast.
    pub fn check_pace(&self) -> Result<(), NotRun> {
        if let Some((per_minute, pace)) = &self.pace
            && pace.check().is_err()
        {
            self.settings.metrics.refused("pace");
            return Err(NotRun::TooFast(*per_minute));
        }
        Ok(())
    }

    /// Runs a script when it is this tenant's turn.
    pub async fn run(&self, script: Script, mut options: RunOptions) -> Result<Run, NotRun> {
        self.check_pace()?;
        let _under_way = self.settings.runs.token();
        options.io = self.io.clone();
        options.quota = self.share.clone();
        let engine = self.settings.engine.clone();
        let running = async move { engine.run(&script, options).await };
        let run = match &self.settings.scripts {
            Some(scripts) => scripts.spawn(running).await?,
            None => running.await,
        };
        let run = run.inspect_err(|refusal| {
            let reason = if matches!(refusal, RunRejected::Busy { .. }) { "busy" } else { "invalid" };
            self.settings.metrics.refused(reason);
        })?;
        self.settings.metrics.ran(&run);
        Ok(run)
    }
}
