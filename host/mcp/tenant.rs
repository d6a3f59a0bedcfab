//! One tenant: the local client, or one authenticated user with files, a run quota and a rate limit of its own.

use super::{file_job::FileJob, state::ServerState, subscriptions::FileChanges, tenant_limits::TenantLimits};
use crate::{
    Run, RunOptions, Script,
    engine::{Definitions, Diagnostic, IoOptions, NotChecked, RunQuota, RunRejected},
    functions::FunctionProvider,
    sdk::Sdk,
};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use rmcp::model::Tool;
use std::{num::NonZeroU32, sync::Arc, thread::available_parallelism, time::Instant};
use tokio::{sync::Semaphore, task::JoinError};
use tokio_util::sync::CancellationToken;

/// The bytes that one permit of the file job queue covers. A job takes one permit, and one more for each such amount of its data.
const FILE_JOB_PERMIT_BYTES: usize = 256 << 10;

/// The permits of the file job queue. Together with [`FILE_JOB_PERMIT_BYTES`] this bounds the data of waiting jobs to 32 MiB.
const FILE_JOB_PERMITS: usize = 128;

/// One tenant.
pub struct Tenant {
    pub state: Arc<ServerState>,
    pub io: Option<IoOptions>,
    pub file_changes: FileChanges,
    /// Serializes file jobs: one at a time.
    file_job_slot: Arc<Semaphore>,
    /// Bounds the data of waiting file jobs.
    file_job_queue: Arc<Semaphore>,
    /// Bounds the documentation lookups at the same time.
    docs_slots: Arc<Semaphore>,
    /// Bounds the large responses that are built, serialized or sent at the same time.
    pub response_slots: Arc<Semaphore>,
    run_quota: Option<RunQuota>,
    rate_limit: Option<(NonZeroU32, DefaultDirectRateLimiter)>,
}

/// The reason that a run or a file job was not executed.
#[derive(Debug, thiserror::Error)]
pub enum RequestRejected {
    #[error(transparent)]
    Run(#[from] RunRejected),
    #[error("the server failed; the cause is in its log")]
    Failed(#[from] JoinError),
    #[error("busy: too many file operations are waiting; try again later")]
    FileQueueFull,
    #[error("busy: the many files are still being counted; try again later")]
    StillCounting,
    #[error("too many requests: at most {0} may start per minute; try again later")]
    RateLimited(NonZeroU32),
}

impl Tenant {
    /// Creates a tenant. Without `limits`, it can use all of the server.
    pub fn new(state: Arc<ServerState>, io: Option<IoOptions>, limits: Option<TenantLimits>) -> Self {
        let slots = if limits.is_some() { 1 } else { available_parallelism().map_or(1, usize::from) };
        Self {
            state,
            io,
            file_changes: FileChanges::default(),
            file_job_slot: Arc::new(Semaphore::new(1)),
            file_job_queue: Arc::new(Semaphore::new(FILE_JOB_PERMITS)),
            docs_slots: Arc::new(Semaphore::new(slots)),
            response_slots: Arc::new(Semaphore::new(slots)),
            run_quota: limits.map(|limits| RunQuota::new(limits.concurrency, limits.queue_limit)),
            rate_limit: limits
                .map(|limits| (limits.requests_per_minute, RateLimiter::direct(Quota::per_minute(limits.requests_per_minute)))),
        }
    }

    /// Returns the tool definitions.
    pub fn tools(&self) -> Arc<Vec<Tool>> {
        self.state.tools(self.io.as_ref())
    }

    /// Looks something up in the documentation of functions, on a thread for such work: a search of a large specification takes long.
    ///
    /// # Errors
    ///
    /// When the rate limit is exceeded, or the lookup panicked.
    pub async fn run_docs_job<R: Send + 'static>(
        &self,
        sdk: &Arc<Sdk>,
        work: impl FnOnce(&Sdk) -> R + Send + 'static,
    ) -> Result<R, RequestRejected> {
        self.check_rate_limit()?;
        // The semaphore is never closed.
        let slot = Arc::clone(&self.docs_slots).acquire_owned().await.ok();
        let sdk = Arc::clone(sdk);
        let job = move || {
            let result = work(&sdk);
            drop(slot);
            result
        };
        Ok(self.state.spawn_blocking(job).await?)
    }

    /// Does work on a large response, on a thread for such work. Other large responses of the tenant wait.
    ///
    /// # Errors
    ///
    /// When the work panicked.
    pub async fn run_response_job<R: Send + 'static>(&self, work: impl FnOnce() -> R + Send + 'static) -> Result<R, JoinError> {
        // The semaphore is never closed.
        let slot = Arc::clone(&self.response_slots).acquire_owned().await.ok();
        let job = move || {
            let result = work();
            drop(slot);
            result
        };
        self.state.spawn_blocking(job).await
    }

    /// Runs a job on the files, on a thread that may block. Returns `None` if there are no files, the request was cancelled or the
    /// job panicked.
    ///
    /// The job can ask whether to continue: not after a cancellation, and not longer than a script may run.
    ///
    /// # Errors
    ///
    /// When the rate limit is exceeded, or too much data of other jobs is waiting.
    pub async fn run_file_job<R: Send + 'static>(
        &self,
        job: FileJob<R>,
        cancellation: CancellationToken,
    ) -> Result<Option<R>, RequestRejected> {
        self.check_rate_limit()?;
        self.run_part_of_request(job, cancellation).await
    }

    /// Runs a job as [`run_file_job`](Self::run_file_job) does, for a request that was already counted against the rate limit.
    ///
    /// # Errors
    ///
    /// When too much data of other jobs is waiting, or the files are still being counted when a run would have timed out.
    pub async fn run_part_of_request<R: Send + 'static>(
        &self,
        job: FileJob<R>,
        cancellation: CancellationToken,
    ) -> Result<Option<R>, RequestRejected> {
        let Some(io) = self.io.clone() else { return Ok(None) };
        let permits = u32::try_from(job.input_bytes / FILE_JOB_PERMIT_BYTES + 1).unwrap_or(u32::MAX);
        let queued = Arc::clone(&self.file_job_queue).try_acquire_many_owned(permits).map_err(|_| {
            self.state.metrics.count_rejected("busy");
            RequestRejected::FileQueueFull
        })?;
        let active = self.state.active_runs.token();
        if job.changes_files {
            let counted = tokio::time::timeout(self.state.limits.timeout, io.files.counted());
            match cancellation.run_until_cancelled(counted).await {
                None => return Ok(None),
                Some(Err(_)) => {
                    self.state.metrics.count_rejected("busy");
                    return Err(RequestRejected::StillCounting);
                }
                Some(Ok(())) => {}
            }
        }
        let slot = async {
            let slot = Arc::clone(&self.file_job_slot).acquire_owned().await;
            (slot, Arc::clone(&self.state.file_job_threads).acquire_owned().await)
        };
        let Some(slot) = cancellation.run_until_cancelled(slot).await else { return Ok(None) };
        let (timeout, shutdown) = (self.state.limits.timeout, self.state.shutdown.clone());
        let run = move || {
            let started = Instant::now();
            let is_wanted = || !cancellation.is_cancelled() && !shutdown.is_cancelled() && started.elapsed() < timeout;
            let result = (job.run)(&io, &is_wanted);
            drop((slot, queued, active));
            result
        };
        // A search uses as much CPU time as a script, so it runs with the scripts.
        Ok(self.state.spawn_blocking(run).await.ok())
    }

    /// Counts a request against the rate limit.
    ///
    /// # Errors
    ///
    /// When the limit is exceeded.
    pub fn check_rate_limit(&self) -> Result<(), RequestRejected> {
        if let Some((per_minute, limiter)) = &self.rate_limit
            && limiter.check().is_err()
        {
            self.state.metrics.count_rejected("pace");
            return Err(RequestRejected::RateLimited(*per_minute));
        }
        Ok(())
    }

    /// Finds mistakes in a script without running it.
    ///
    /// # Errors
    ///
    /// When the rate limit is exceeded or the script is too large.
    pub async fn check(&self, script: Script) -> Result<Result<Vec<Diagnostic>, NotChecked>, RequestRejected> {
        self.check_rate_limit()?;
        let (size, limit) = (script.source.len(), self.state.limits.script);
        if size > limit {
            return Err(RunRejected::ScriptTooLarge { size, limit }.into());
        }
        let _active = self.state.active_runs.token();
        let functions = self.state.sdk.as_deref().map(|sdk| sdk as &dyn FunctionProvider);
        let definitions = Definitions::for_script(&script, functions).with_io(self.io.is_some());
        let engine = self.state.engine.clone();
        let check = async move { engine.check(&script, &definitions).await };
        Ok(match &self.state.script_runtime {
            Some(runtime) => runtime.spawn(check).await?,
            None => check.await,
        })
    }

    /// Runs a script with the files and the quota of this tenant.
    ///
    /// # Errors
    ///
    /// When the run is not started.
    pub async fn run(&self, script: Script, mut options: RunOptions) -> Result<Run, RequestRejected> {
        self.check_rate_limit()?;
        let _active = self.state.active_runs.token();
        options.io = self.io.clone();
        options.quota = self.run_quota.clone();
        let engine = self.state.engine.clone();
        let run = async move { engine.run(&script, options).await };
        let run = match &self.state.script_runtime {
            Some(runtime) => runtime.spawn(run).await?,
            None => run.await,
        };
        let run = run.inspect_err(|rejected| {
            let reason = if matches!(rejected, RunRejected::Busy { .. }) { "busy" } else { "invalid" };
            self.state.metrics.count_rejected(reason);
        })?;
        self.state.metrics.count_run(&run);
        Ok(run)
    }
}
