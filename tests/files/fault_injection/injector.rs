//! Makes system calls of one thread fail.
//!
//! A seccomp filter sends the system calls of the thread to a supervisor, another thread of the test. It lets each continue, except for
//! the one that is to fail. Only calls on a directory of the test are affected. Threads that the filtered one starts are filtered, too.

#![expect(unsafe_code, reason = "seccomp has no safe interface")]

use std::{
    io, mem,
    os::fd::RawFd,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, mpsc::channel},
};

/// System calls that fail together. `openat` and `openat2`, for example, have the same purpose.
pub type Calls = &'static [libc::c_long];

pub const OPEN: Calls = &[libc::SYS_openat, libc::SYS_openat2];
pub const WRITE: Calls = &[libc::SYS_write, libc::SYS_pwrite64];
pub const RENAME: Calls = &[libc::SYS_renameat, libc::SYS_renameat2];
pub const LINK: Calls = &[libc::SYS_linkat];
pub const UNLINK: Calls = &[libc::SYS_unlinkat];
pub const MKDIR: Calls = &[libc::SYS_mkdirat];
pub const STAT: Calls = &[libc::SYS_newfstatat, libc::SYS_statx, libc::SYS_fstat];
pub const TRUNCATE: Calls = &[libc::SYS_ftruncate];
pub const SYNC: Calls = &[libc::SYS_fsync, libc::SYS_fdatasync];
pub const CHMOD: Calls = &[libc::SYS_fchmod, libc::SYS_fchown];
pub const LOCK: Calls = &[libc::SYS_flock];
pub const LIST: Calls = &[libc::SYS_getdents64];

/// All groups, by name.
pub const GROUPS: [(&str, Calls); 12] = [
    ("open", OPEN),
    ("write", WRITE),
    ("rename", RENAME),
    ("link", LINK),
    ("unlink", UNLINK),
    ("mkdir", MKDIR),
    ("stat", STAT),
    ("truncate", TRUNCATE),
    ("sync", SYNC),
    ("chmod", CHMOD),
    ("lock", LOCK),
    ("list", LIST),
];

/// The call that is to fail.
struct Plan {
    calls: Calls,
    /// The number of calls that succeed before it.
    skip: u64,
    error: i32,
    directory: PathBuf,
    failed: bool,
}

/// Controls which system call of the filtered thread fails.
pub struct Injector {
    plan: Arc<Mutex<Option<Plan>>>,
}

impl Injector {
    /// Filters the system calls of the current thread for the rest of its life.
    ///
    /// Returns an error if the machine does not allow that.
    pub fn install() -> io::Result<Self> {
        let plan = Arc::new(Mutex::new(None));
        let (sender, listener) = channel();
        // Started before the filter is installed, so that the supervisor is not filtered.
        std::thread::spawn({
            let plan = Arc::clone(&plan);
            move || listener.recv().map(|listener| supervise(listener, &plan))
        });
        let listener = install_filter()?;
        let _ = sender.send(listener);
        Ok(Self { plan })
    }

    /// Makes the call after `skip` others fail. Only calls on files in the directory count.
    pub fn fail(&self, calls: Calls, skip: u64, error: i32, directory: PathBuf) {
        *self.plan() = Some(Plan { calls, skip, error, directory, failed: false });
    }

    /// Lets all calls succeed again. Returns `true` if a call failed.
    pub fn stop(&self) -> bool {
        self.plan().take().is_some_and(|plan| plan.failed)
    }

    fn plan(&self) -> std::sync::MutexGuard<'_, Option<Plan>> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Plan {
    /// Returns the error of a call, or `None` if it continues.
    fn error_of(&mut self, call: libc::seccomp_data) -> Option<i32> {
        let number = libc::c_long::from(call.nr);
        // The third argument of other calls is a length or a flag, which can have the value of an open descriptor.
        let has_two_directories = RENAME.contains(&number) || LINK.contains(&number);
        let fits = !self.failed
            && self.calls.contains(&number)
            && (self.is_inside(call.args[0]) || has_two_directories && self.is_inside(call.args[2]));
        if !fits {
            return None;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return None;
        }
        self.failed = true;
        Some(self.error)
    }

    /// Returns `true` if an argument is the descriptor of a file in the directory.
    fn is_inside(&self, argument: u64) -> bool {
        std::fs::read_link(format!("/proc/self/fd/{argument}")).is_ok_and(|path| path.starts_with(&self.directory))
    }
}

/// Installs the filter. Returns the descriptor on which the calls arrive.
fn install_filter() -> io::Result<RawFd> {
    let statement = |code: u32, jump_true: u8, value: u32| libc::sock_filter { code: code as u16, jt: jump_true, jf: 0, k: value };
    let calls: Vec<u32> = GROUPS.iter().flat_map(|(_, calls)| calls.iter()).map(|call| *call as u32).collect();
    // Loads the number of the call, and jumps to the last statement if it is one of these.
    let mut program = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0)];
    for (index, call) in calls.iter().enumerate() {
        program.push(statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, (calls.len() - index) as u8, *call));
    }
    program.push(statement(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW));
    program.push(statement(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_USER_NOTIF));
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: both calls affect only this thread, and the program is valid during the call.
    let listener = unsafe {
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
            return Err(io::Error::last_os_error());
        }
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER, &raw const program)
    };
    if listener < 0 { Err(io::Error::last_os_error()) } else { Ok(listener as RawFd) }
}

/// Decides about each call until the filtered threads have ended.
fn supervise(listener: RawFd, plan: &Mutex<Option<Plan>>) {
    loop {
        // SAFETY: a notification of zeros is valid, and the kernel writes one of this type.
        let (received, call) = unsafe {
            let mut call: libc::seccomp_notif = mem::zeroed();
            (libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut call), call)
        };
        if received != 0 {
            match io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => continue,
                _ => return,
            }
        }
        let error = plan.lock().unwrap_or_else(PoisonError::into_inner).as_mut().and_then(|plan| plan.error_of(call.data));
        let flags = if error.is_some() { 0 } else { libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32 };
        let response = libc::seccomp_notif_resp { id: call.id, val: 0, error: error.map_or(0, |error| -error), flags };
        // SAFETY: the kernel reads a response of this type.
        unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const response) };
    }
}
