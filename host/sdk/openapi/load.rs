//! Reads a specification from disk, or downloads it.

use super::specification::MAX_SIZE;
use crate::{
    allocation::read_up_to,
    sdk::{egress::is_http, error::SourceError},
};
use std::{error::Error, io, time::Duration};
use url::Url;

/// The time that a download may take.
const FETCH_TIMEOUT: Duration = Duration::from_secs(30);

/// Returns the bytes of a specification, and its URL if it was downloaded.
pub async fn load(spec: &str) -> Result<(Vec<u8>, Option<Url>), SourceError> {
    match Url::parse(spec).ok().filter(is_http) {
        Some(url) => match fetch(&url).await {
            Ok(bytes) => Ok((bytes, Some(url))),
            Err(error) => Err(SourceError::Fetch { url, error }),
        },
        None => match read(spec) {
            Ok(bytes) => Ok((bytes, None)),
            Err(error) => Err(SourceError::Read { path: spec.to_owned(), error }),
        },
    }
}

/// Reads one byte more than allowed, so that the parser rejects a file that is too large.
fn read(path: &str) -> io::Result<Vec<u8>> {
    #[expect(clippy::disallowed_types, reason = "the path is from the host's configuration, not from a script")]
    let file = std::fs::File::open(path)?;
    let mut bytes = Vec::new();
    read_up_to(file, MAX_SIZE as u64 + 1, &mut bytes)?;
    Ok(bytes)
}

/// Downloads from any address, private ones too: the URL is from the host's configuration, not from a script.
async fn fetch(url: &Url) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
    let client = reqwest::Client::builder().timeout(FETCH_TIMEOUT).build()?;
    let response = client.get(url.clone()).send().await.and_then(reqwest::Response::error_for_status);
    let mut response = response.map_err(reqwest::Error::without_url)?;
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(reqwest::Error::without_url)? {
        if bytes.len() + chunk.len() > MAX_SIZE {
            return Err(format!("the specification is larger than {MAX_SIZE} bytes").into());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}
