//! The file operations of a sandbox. Each starts an operation, and an event reports its end.

use crate::{
    events::Output,
    file_results,
    options::{self, GlobOptions, GrepOptions},
    sandbox::{NativeSandbox, bytes, cancellable},
};
use napi::{
    Status,
    bindgen_prelude::{Buffer, Either},
};
use napi_derive::napi;
use toolscript::files::WriteMode;

#[napi]
impl NativeSandbox {
    #[napi]
    pub fn read(&self, operation: u32, path: String, offset: i64, limit: Option<i64>) -> napi::Result<()> {
        let sandbox = self.sandbox()?;
        let (offset, limit) = (u64::try_from(offset).unwrap_or(0), limit.map(|limit| u64::try_from(limit).unwrap_or(0)));
        self.events.spawn(operation, |cancellation| async move {
            file_results::contents(cancellable(cancellation, sandbox?.read(&path, offset, limit)).await?)
        })
    }

    #[napi]
    pub fn read_bytes(&self, operation: u32, path: String) -> napi::Result<()> {
        let sandbox = self.sandbox()?;
        self.events.spawn(operation, |cancellation| async move {
            let contents = cancellable(cancellation, sandbox?.read_raw(&path)).await?;
            Ok(Output::json(&())?.with_buffer(contents))
        })
    }

    #[napi]
    pub fn write(&self, operation: u32, path: String, contents: Either<String, Buffer>, mode: String) -> napi::Result<()> {
        let mode = match mode.as_str() {
            "create" => WriteMode::Create,
            "overwrite" => WriteMode::Overwrite,
            "append" => WriteMode::Append,
            _ => return Err(napi::Error::new(Status::InvalidArg, "mode must be \"create\", \"overwrite\" or \"append\"")),
        };
        let (sandbox, contents) = (self.sandbox()?, bytes(contents));
        self.events.spawn(operation, |cancellation| async move {
            Output::json(&file_results::written(&cancellable(cancellation, sandbox?.write(&path, contents, mode)).await?))
        })
    }

    #[napi]
    pub fn edit(&self, operation: u32, path: String, old: String, replacement: String, all: bool) -> napi::Result<()> {
        let sandbox = self.sandbox()?;
        self.events.spawn(operation, |cancellation| async move {
            Output::json(&file_results::edited(&cancellable(cancellation, sandbox?.edit(&path, &old, &replacement, all)).await?))
        })
    }

    #[napi]
    pub fn list(&self, operation: u32, path: String) -> napi::Result<()> {
        let sandbox = self.sandbox()?;
        self.events.spawn(operation, |cancellation| async move {
            Output::json(&file_results::entries(&cancellable(cancellation, sandbox?.list(&path)).await?))
        })
    }

    #[napi]
    pub fn glob(&self, operation: u32, query: String) -> napi::Result<()> {
        let (sandbox, query) = (self.sandbox()?, options::parse::<GlobOptions>(&query)?);
        self.events.spawn(operation, |cancellation| async move {
            Output::json(&file_results::glob(&cancellable(cancellation, sandbox?.glob(query.into())).await?))
        })
    }

    #[napi]
    pub fn grep(&self, operation: u32, query: String) -> napi::Result<()> {
        let (sandbox, query) = (self.sandbox()?, options::parse::<GrepOptions>(&query)?);
        self.events.spawn(operation, |cancellation| async move {
            Output::json(&file_results::grep(&cancellable(cancellation, sandbox?.grep(query.into())).await?))
        })
    }

    #[napi]
    pub fn remove(&self, operation: u32, path: String) -> napi::Result<()> {
        let sandbox = self.sandbox()?;
        self.events.spawn(operation, |cancellation| async move { Output::json(&cancellable(cancellation, sandbox?.remove(&path)).await?) })
    }

    #[napi]
    pub fn delete(&self, operation: u32, path: String) -> napi::Result<()> {
        let sandbox = self.sandbox()?;
        self.events.spawn(operation, |cancellation| async move {
            Output::json(&file_results::deleted(&cancellable(cancellation, sandbox?.delete(&path)).await?))
        })
    }

    #[napi]
    pub fn upload(&self, operation: u32, paths: Vec<String>, contents: Vec<Buffer>) -> napi::Result<()> {
        let sandbox = self.sandbox()?;
        let files = paths.into_iter().zip(contents.iter().map(|buffer| buffer.to_vec())).collect();
        self.events.spawn(operation, |cancellation| async move {
            let sandbox = sandbox?;
            file_results::uploaded(cancellable(cancellation, async { Ok(sandbox.upload(files).await) }).await?)
        })
    }

    #[napi]
    pub fn download(&self, operation: u32, paths: Vec<String>) -> napi::Result<()> {
        let sandbox = self.sandbox()?;
        self.events.spawn(operation, |cancellation| async move {
            let sandbox = sandbox?;
            file_results::downloaded(cancellable(cancellation, async { Ok(sandbox.download(paths).await) }).await?)
        })
    }
}
