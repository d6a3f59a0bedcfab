//! Hostile files in an io directory: symlinks that lead out of it, files that are replaced by symlinks, and FIFOs, sockets and devices.

use crate::support::IoDir;
use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

/// A text that no operation inside the io directory may read.
pub const SECRET: &str = "the secret of the host";

/// The names of the symlinks that [`plant_links`] creates.
pub const LINKS: [&str; 9] =
    ["to_file", "to_folder", "relative", "relative_out", "chained", "looped", "dangling", "absolute_inside", "to_inner_folder"];

/// Paths that lead through these symlinks.
pub const THROUGH: [&str; 6] =
    ["to_folder/secret", "to_folder/new", "to_inner_folder/new", "to_itself/inside", "to_itself/to_itself/inside", "to_memory"];

/// Creates symlinks of every kind, next to a file `inside` and a directory `folder`.
pub fn plant_links(dir: &IoDir) {
    let outside = dir.outside().join("outside");
    fs::create_dir(&outside).expect("a directory");
    fs::write(outside.join("secret"), SECRET).expect("a file");
    fs::write(dir.path().join("inside"), "inside").expect("a file");
    fs::create_dir(dir.path().join("folder")).expect("a directory");
    let inside = dir.path().join("inside");
    for (target, name) in [
        (outside.join("secret").as_path(), "to_file"),
        (outside.as_path(), "to_folder"),
        (Path::new("inside"), "relative"),
        (Path::new("../outside/secret"), "relative_out"),
        (Path::new("to_file"), "chained"),
        (Path::new("looped"), "looped"),
        (outside.join("new").as_path(), "dangling"),
        (inside.as_path(), "absolute_inside"),
        (Path::new("folder"), "to_inner_folder"),
        (Path::new("."), "to_itself"),
        (Path::new("/proc/self/mem"), "to_memory"),
    ] {
        symlink(target, dir.path().join(name)).expect("a symlink");
    }
}

/// Files that are neither regular files nor directories.
pub struct IrregularFiles {
    pub names: Vec<&'static str>,
    _socket: UnixListener,
}

/// Creates a FIFO, a socket and, if the user is root, a device.
pub fn plant_irregular_files(dir: &IoDir) -> IrregularFiles {
    assert!(Command::new("mkfifo").arg(dir.path().join("fifo")).status().expect("mkfifo").success());
    let socket = UnixListener::bind(dir.path().join("socket")).expect("a socket");
    let mut names = vec!["fifo", "socket"];
    if Command::new("mknod").arg(dir.path().join("device")).args(["c", "1", "3"]).output().expect("mknod").status.success() {
        names.push("device");
    }
    IrregularFiles { names, _socket: socket }
}

/// A thread that repeatedly replaces files and directories by symlinks.
pub struct Swapper {
    /// A file with [`SECRET`], outside the io directory.
    secret: PathBuf,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<usize>,
}

impl Swapper {
    /// Replaces `x` and `folder/x` in the io directory by symlinks to a file with [`SECRET`], and `folder` by a symlink to the parent
    /// directory.
    pub fn start(dir: &IoDir) -> Self {
        let (root, secret) = (dir.path(), dir.outside().join("secret"));
        fs::write(&secret, SECRET).expect("a file");
        let target = secret.clone();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut swaps = 0;
            while !stopped.load(Ordering::Relaxed) {
                // Other threads create directories at the same time, so some rounds fail.
                swaps += usize::from(swap(&root, &target).is_ok());
                let _ = (fs::remove_file(root.join("link")), fs::remove_dir_all(root.join("away")));
                let _ = fs::create_dir(root.join("folder"));
            }
            swaps
        });
        Self { secret, stop, thread }
    }

    /// Stops the thread, and checks that the secret is unchanged and that enough rounds were complete for the attack to be real.
    pub fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        let swaps = self.thread.join().expect("the swapper did not panic");
        assert_eq!(fs::read_to_string(&self.secret).expect("the secret"), SECRET);
        assert!(swaps > 10, "too few swaps: {swaps}");
    }
}

fn swap(root: &Path, secret: &Path) -> std::io::Result<()> {
    for name in ["x", "folder/x"] {
        symlink(secret, root.join("link"))?;
        fs::rename(root.join("link"), root.join(name))?;
        fs::write(root.join("file"), "plain")?;
        fs::rename(root.join("file"), root.join(name))?;
    }
    fs::rename(root.join("folder"), root.join("away"))?;
    symlink(root.join(".."), root.join("folder"))?;
    fs::remove_file(root.join("folder"))
}
