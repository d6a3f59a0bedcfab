//! Starts what one trial needs: the HTTP API, the MCP server and the files.

use super::{
    api::{self, Shared},
    data::Store,
    desk::Desk,
    files,
};
use crate::support::server_process::temp_directory_with_config;
use axum::Router;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use rmcp::transport::{StreamableHttpService, streamable_http_server::session::local::LocalSessionManager};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, mpsc},
};
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::oneshot};

/// The servers on a thread of their own, until this is dropped, and the directory to start `toolscript serve` in.
pub struct World {
    directory: TempDir,
    store: Shared,
    _stop: oneshot::Sender<()>,
}

impl World {
    pub fn start() -> Self {
        let store: Shared = Arc::new(Mutex::new(Store::new()));
        let (stop, stopped) = oneshot::channel::<()>();
        let (sender, address) = mpsc::channel();
        let shared = Arc::clone(&store);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
                sender.send(listener.local_addr().expect("an address")).expect("the receiver waits");
                let desk = Desk(Arc::clone(&shared));
                let mcp = StreamableHttpService::new(move || Ok(desk.clone()), Arc::<LocalSessionManager>::default(), Default::default());
                let router = Router::new().nest_service("/mcp", mcp).fallback(api::respond).with_state(shared);
                let serving = async {
                    while let Ok((stream, _)) = listener.accept().await {
                        let service = TowerToHyperService::new(router.clone());
                        tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service));
                    }
                };
                tokio::select! {
                    () = serving => {}
                    _ = stopped => {}
                }
            });
        });
        let address = address.recv().expect("the servers listen");
        let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/first_try/store.yaml");
        let directory = temp_directory_with_config(&format!(
            "[limits]\ntimeout = 10\n[apis.store]\nspec = {spec:?}\nbase_url = \"http://{address}/v1\"\nallow_private = true\n\
             [mcp_servers.desk]\nurl = \"http://{address}/mcp\"\nallow_private = true\n"
        ));
        let world = Self { directory, store, _stop: stop };
        files::write(&world.io());
        world
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the io directory.
    pub fn io(&self) -> PathBuf {
        self.directory.path().join("toolscript-files")
    }

    /// Returns the state of the servers.
    pub fn store(&self) -> Store {
        self.store.lock().expect("a lock").clone()
    }
}
