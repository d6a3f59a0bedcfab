//! One API, or one MCP server, as its section says.

use crate::{
    config::{ApiSection, Config, Credential, McpServerSection},
    sdk::{
        Egress, Filter, Frozen, RESERVED, Secret,
        openapi::{Api, MAX_SIZE, Settings},
        snake_case,
        upstream::{Launch, Upstream},
    },
};
use anyhow::{Context as _, Result, bail, ensure};
use std::{
    io::Read as _,
    path::Path,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};
use url::Url;

/// For a specification to be fetched.
const FETCH_TIMEOUT: Duration = Duration::from_secs(30);

/// Reads an API's specification.
pub async fn api(name: &str, section: ApiSection, config: &Config) -> Result<Api> {
    check_name(name)?;
    let secret = secret(section.auth, section.auth_env.as_deref())?;
    let origin = Url::parse(&section.spec).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let bytes = match &origin {
        Some(url) => fetch(url).await.with_context(|| format!("can't fetch {url}"))?,
        None => read(Path::new(&section.spec)).with_context(|| format!("can't read {}", section.spec))?,
    };
    let settings = Settings {
        base_url: section.base_url,
        origin,
        secret,
        scheme: section.auth_scheme,
        allow_private: section.allow_private,
        filter: Filter::new(&section.allow, &section.deny, section.read_only)?,
        frozen: section.frozen_params,
        frozen_everywhere: config.frozen_params.clone(),
    };
    Api::load(name, &bytes, settings).with_context(|| section.spec.clone())
}

/// Begins to connect to a server.
pub fn server(name: &str, section: McpServerSection, config: &Config, revision: &Arc<AtomicU64>) -> Result<Arc<Upstream>> {
    check_name(name)?;
    let filter = Filter::new(&section.allow, &section.deny, section.read_only)?;
    let secret = secret(section.auth, section.auth_env.as_deref())?;
    let launch = match (section.command, section.url) {
        (Some(program), None) => {
            ensure!(section.headers.is_empty() && secret.is_none(), "headers, auth and auth_env are for servers with a url");
            Launch::Command {
                program,
                arguments: section.args,
                environment: section.env.into_iter().map(|(name, value)| (name, value.0)).collect(),
                inherited: section.inherit_env,
            }
        }
        (None, Some(url)) => {
            let of_programs = section.args.is_empty() && section.env.is_empty() && section.inherit_env.is_empty();
            ensure!(of_programs, "args, env and inherit_env are for servers with a command");
            ensure!(matches!(url.scheme(), "http" | "https") && url.has_host(), "{url} is not an address of the web");
            let mut headers = Vec::new();
            for (name, Credential(value)) in section.headers {
                let key = name.parse().with_context(|| format!("the header '{name}'"))?;
                let mut value = reqwest::header::HeaderValue::from_str(&value).with_context(|| format!("the header '{name}'"))?;
                value.set_sensitive(true);
                headers.push((key, value));
            }
            Launch::Address { url, headers, secret, egress: Egress::new(section.allow_private) }
        }
        _ => bail!("it needs a command or a url, and not both"),
    };
    let frozen = Frozen::new(&config.frozen_params, &section.frozen_params);
    Ok(Upstream::start(name.to_owned(), launch, filter, frozen, Arc::clone(revision)))
}

fn check_name(name: &str) -> Result<()> {
    ensure!(!RESERVED.contains(&name), "sdk has a member of that name itself; it needs another");
    ensure!(snake_case(name) == name, "a name is of small letters, digits and underscores, such as '{}'", snake_case(name));
    Ok(())
}

fn secret(given: Option<Credential>, variable: Option<&str>) -> Result<Option<Secret>> {
    match (given, variable) {
        (Some(_), Some(_)) => bail!("auth and auth_env are two credentials; it takes one"),
        (Some(Credential(text)), None) if text.is_empty() => bail!("auth is empty"),
        (Some(Credential(text)), None) => Ok(Some(Secret::new(text))),
        (None, Some(variable)) => match std::env::var(variable) {
            Ok(secret) if !secret.is_empty() => Ok(Some(Secret::new(secret))),
            _ => bail!("the variable {variable}, for its credential, is not set"),
        },
        (None, None) => Ok(None),
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    #[expect(clippy::disallowed_types, reason = "a file that the person named, not one of a script's")]
    let file = std::fs::File::open(path)?;
    let mut bytes = Vec::new();
    file.take(MAX_SIZE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The person named the address, so it may be anywhere.
async fn fetch(url: &Url) -> Result<Vec<u8>> {
    let client = reqwest::Client::builder().timeout(FETCH_TIMEOUT).build()?;
    let response = client.get(url.clone()).send().await.and_then(reqwest::Response::error_for_status);
    let mut response = response.map_err(reqwest::Error::without_url)?;
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(reqwest::Error::without_url)? {
        ensure!(bytes.len() + chunk.len() <= MAX_SIZE, "it is more than {MAX_SIZE} bytes");
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}
