//! The open file limit and the thread priority of the process.

/// Raises the limit on open files to the allowed maximum. Each run may open 64 files, and the usual default is about 1,000 per process.
pub fn raise_descriptor_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::debug!(%error, "can't raise the limit on open files");
        }
    }
}

/// Lowers the priority of the current thread. Only Linux has a priority per thread.
pub fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, 5) {
        tracing::debug!(%error, "can't lower the thread priority");
    }
}
