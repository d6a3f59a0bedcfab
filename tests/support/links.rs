//! Links that lead out of an io dir: planted, or put in place of files and folders while others use them.

use crate::support::IoDir;
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

/// The links that are planted.
pub const LINKS: [&str; 9] =
    ["to_file", "to_folder", "relative", "relative_out", "chained", "looped", "dangling", "absolute_inside", "to_inner_folder"];

/// Paths that lead through them.
pub const THROUGH: [&str; 6] =
    ["to_folder/secret", "to_folder/new", "to_inner_folder/new", "to_itself/inside", "to_itself/to_itself/inside", "to_memory"];

/// Plants links of every kind beside a file `inside` and a folder `folder`.
pub fn plant_links(dir: &IoDir) {
    let outside = dir.outside().join("outside");
    fs::create_dir(&outside).expect("a folder");
    fs::write(outside.join("secret"), "the secret of the host").expect("a file");
    fs::write(dir.path().join("inside"), "inside").expect("a file");
    fs::create_dir(dir.path().join("folder")).expect("a folder");
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
        symlink(target, dir.path().join(name)).expect("a link");
    }
}

/// A thread that swaps files and folders for links.
pub struct Swapper {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<usize>,
}

impl Swapper {
    /// Swaps `x` and `folder/x` below a folder for links to a secret, and `folder` for a link to what is above.
    pub fn start(root: PathBuf, secret: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut swaps = 0;
            while !stopped.load(Ordering::Relaxed) {
                // Others make folders meanwhile, so not every step can be done.
                swaps += usize::from(swap(&root, &secret).is_ok());
                let _ = (fs::remove_file(root.join("link")), fs::remove_dir_all(root.join("away")));
                let _ = fs::create_dir(root.join("folder"));
            }
            swaps
        });
        Self { stop, thread }
    }

    /// How many rounds there were.
    pub fn stop(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the swapper ended well")
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
