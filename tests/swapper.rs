//! A thread that swaps files and folders for links while others use them.

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
