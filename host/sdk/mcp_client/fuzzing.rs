//! An upstream server whose messages the fuzz targets write.

use super::{Handler, State, Transport, UpstreamServer, connect::connect_streams, tool_list::ToolList};
use crate::sdk::{filter::FunctionFilter, frozen_params::FrozenParams, secret::Secret};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, RwLock},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
};

impl UpstreamServer {
    /// Connects to a server over streams, and asks it for its tools. The server is closed when the input ends.
    pub async fn over_streams(
        name: &str,
        secret: &str,
        max_message: usize,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<Arc<Self>, String> {
        let (filter, frozen) = (FunctionFilter::default(), FrozenParams::default());
        let running = connect_streams(Handler::default(), input, output, max_message).await.map_err(|failure| failure.public)?;
        let peer = running.peer().clone();
        let tools = ToolList::fetch(&peer, &filter, &frozen, true).await.map_err(|failure| failure.public)?;
        let (program, args, env, inherited_env) = (String::new(), Vec::new(), BTreeMap::new(), Vec::new());
        let server = Arc::new(Self {
            name: name.into(),
            transport: Transport::Command { program, args, directory: None, env, inherited_env },
            filter,
            frozen,
            decodes_text: true,
            secrets: vec![Secret::new(secret)],
            state: watch::Sender::new(State::Connected { peer, number: 1 }),
            cached_tools: RwLock::new(Arc::new(tools)),
            lost: watch::Sender::new(None),
            process: Mutex::default(),
            task: OnceLock::new(),
            revision: Arc::default(),
        });
        let connected = Arc::clone(&server);
        tokio::spawn(async move {
            let _ = running.waiting().await;
            connected.kill();
        });
        Ok(server)
    }
}
