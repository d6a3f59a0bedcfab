//! `toolscript:sandbox/io`: the files of a run.

use super::{Completed, MeteredState, begin_call, define_blocking, run_blocking, yield_now};
use crate::files::{FileError, FileSession, Files, MAX_BLOCK, MAX_NAMES, MAX_PATH, OpenMode, Whence};
use wasmtime::{
    StoreContextMut,
    component::{ComponentNamedList, ComponentType, Lift, Linker, LinkerInstance, Lower, Resource, ResourceType, WasmList},
};

/// Cost of a listed name in addition to its bytes, because the host reads and sorts the names.
const NAME_COST: usize = 1000;

/// The resource type of an open file. Its representation is the number of the handle in the session.
struct File;

/// The error of a call, as defined in `wit/io.wit`.
#[derive(ComponentType, Lower)]
#[component(variant)]
enum Error {
    #[component(name = "invalid")]
    Invalid(String),
    #[component(name = "limit")]
    Limit(String),
    #[component(name = "refused")]
    Os(OsError),
}

/// An error of the operating system; `refusal` in WIT.
#[derive(ComponentType, Lower)]
#[component(record)]
struct OsError {
    message: String,
    number: i32,
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Invalid(message) => Self::Invalid(message.into()),
            // No operation of a script returns these.
            FileError::Argument(_) | FileError::Interrupted | FileError::Failed => Self::Invalid(error.to_string()),
            FileError::Limit(message) => Self::Limit(message),
            FileError::System { message, number, .. } => Self::Os(OsError { message, number }),
        }
    }
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct Opened {
    file: Resource<File>,
    allowance: u64,
}

/// The results of every call of this interface.
type IoResults<R> = (Result<R, Error>,);

pub fn add_to_linker<T: MeteredState>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    let mut io = linker.instance("toolscript:sandbox/io@0.3.0")?;
    io.resource_async("file", ResourceType::host::<File>(), |mut store, handle| {
        Box::new(async move {
            let started = begin_call(&mut store).await?;
            if let Some(session) = &store.data().as_ref().files {
                session.close(handle);
            }
            T::end_call(&mut store, started.elapsed(), 0)
        })
    })?;
    define_blocking(&mut io, "[method]file.read", |store, (file, limit): (Resource<File>, u32)| {
        with_session(store, move |session| session.read(file.rep(), limit as usize), |bytes| bytes.as_ref().map_or(0, Vec::len))
    })?;
    define_blocking(&mut io, "[method]file.remaining", |store, (file,): (Resource<File>,)| {
        with_session(store, move |session| session.remaining(file.rep()), no_bytes)
    })?;
    io.func_wrap_async("[method]file.write", |mut store, (file, bytes, has_pending): (Resource<File>, WasmList<u8>, bool)| {
        Box::new(async move {
            let started = begin_call(&mut store).await?;
            let written = write(&mut store, file.rep(), &bytes, has_pending).await?;
            T::end_call(&mut store, started.elapsed(), bytes.len())?;
            Ok((written.map_err(Error::from),))
        })
    })?;
    define_blocking(&mut io, "[method]file.seek", |store, (file, whence, offset): (Resource<File>, Whence, i64)| {
        with_session(store, move |session| session.seek(file.rep(), whence, offset), no_bytes)
    })?;
    let writes = |(_, mode): &(WasmList<u8>, OpenMode)| mode.writes();
    define_change(&mut io, "open", writes, |store, (path, mode): (WasmList<u8>, OpenMode)| {
        let path = copy_path(store, &path);
        let open = move |session: &FileSession| {
            let (handle, allowance) = session.open(&path?, mode)?;
            Ok(Opened { file: Resource::new_own(handle), allowance })
        };
        with_session(store, open, no_bytes)
    })?;
    define_blocking(&mut io, "list", |store, (path,): (WasmList<u8>,)| {
        let path = copy_path(store, &path);
        with_session(store, move |session| session.list(&path?), listing_cost)
    })?;
    define_blocking(&mut io, "exists", |store, (path,): (WasmList<u8>,)| {
        let path = copy_path(store, &path);
        with_session(store, move |session| session.exists(&path?), no_bytes)
    })?;
    define_change(
        &mut io,
        "rename",
        |_| true,
        |store, (old, new): (WasmList<u8>, WasmList<u8>)| {
            let paths = copy_path(store, &old).and_then(|old| Ok((old, copy_path(store, &new)?)));
            let rename = move |session: &FileSession| {
                let (old, new) = paths?;
                session.rename(&old, &new)
            };
            with_session(store, rename, no_bytes)
        },
    )?;
    define_change(
        &mut io,
        "remove",
        |_| true,
        |store, (path,): (WasmList<u8>,)| {
            let path = copy_path(store, &path);
            with_session(store, move |session| session.remove(&path?), no_bytes)
        },
    )
}

/// Defines an import that changes files if `changes` returns `true`. It then waits until the disk usage of the directory is known, which
/// blocks no thread.
fn define_change<T: MeteredState, Arguments, Work, R>(
    io: &mut LinkerInstance<'_, T>,
    name: &str,
    changes: impl Fn(&Arguments) -> bool + Copy + Send + Sync + 'static,
    prepare: impl Fn(&StoreContextMut<'_, T>, Arguments) -> Work + Copy + Send + Sync + 'static,
) -> wasmtime::Result<()>
where
    Arguments: ComponentNamedList + Lift + Send + 'static,
    Work: FnOnce() -> Completed<IoResults<R>> + Send + 'static,
    IoResults<R>: ComponentNamedList + Lower + Send + 'static,
{
    io.func_wrap_async(name, move |mut store, arguments| {
        Box::new(async move {
            let started = begin_call(&mut store).await?;
            let files = store.data().as_ref().files.as_ref().map(FileSession::files).filter(Files::is_being_counted);
            if let Some(files) = files.filter(|_| changes(&arguments)) {
                store.data_mut().as_mut().waits_for_count = true;
                files.counted().await;
                store.data_mut().as_mut().waits_for_count = false;
            }
            let work = prepare(&store, arguments);
            let Completed { results, bytes } = run_blocking(&store, work).await?;
            T::end_call(&mut store, started.elapsed(), bytes)?;
            Ok(results)
        })
    })
}

fn listing_cost(names: &Result<Vec<String>, FileError>) -> usize {
    match names {
        Ok(names) => names.iter().map(|name| name.len() + NAME_COST).sum(),
        Err(FileError::Limit(_)) => MAX_NAMES * NAME_COST,
        Err(_) => 0,
    }
}

fn no_bytes<R>(_: &R) -> usize {
    0
}

/// Returns work that uses the file session of the run. `cost` returns the bytes to charge for.
fn with_session<T: MeteredState, R, Work, Cost>(
    store: &StoreContextMut<'_, T>,
    work: Work,
    cost: Cost,
) -> impl FnOnce() -> Completed<IoResults<R>> + use<T, R, Work, Cost>
where
    Work: FnOnce(&FileSession) -> Result<R, FileError>,
    Cost: FnOnce(&Result<R, FileError>) -> usize,
{
    let session = store.data().as_ref().files.clone();
    move || {
        let result = session.as_ref().map_or_else(|| Err(no_files()), work);
        let bytes = cost(&result);
        Completed { results: (result.map_err(Error::from),), bytes }
    }
}

/// Copies a path out of guest memory if it is not too long.
fn copy_path<T: MeteredState>(store: &StoreContextMut<'_, T>, path: &WasmList<u8>) -> Result<Vec<u8>, FileError> {
    if path.len() > MAX_PATH {
        return Err(FileError::Invalid("path is too long"));
    }
    Ok(path.as_le_slice(store).to_vec())
}

/// Writes all bytes in blocks, so that the host copies only one block at a time.
async fn write<T: MeteredState>(
    store: &mut StoreContextMut<'_, T>,
    handle: u32,
    bytes: &WasmList<u8>,
    has_pending: bool,
) -> wasmtime::Result<Result<u64, FileError>> {
    let Some(session) = store.data().as_ref().files.clone() else { return Ok(Err(no_files())) };
    let size = bytes.len();
    // Announced first, so that the file is reported as truncated if the run stops before all bytes are written.
    let announced = session.set_pending(handle, has_pending || size > 0);
    if size == 0 || announced.is_err() {
        return Ok(announced);
    }
    if size > MAX_BLOCK {
        let session = session.clone();
        if let Err(error) = run_blocking(store, move || session.check_write(handle, size as u64)).await? {
            return Ok(Err(error));
        }
    }
    let mut start = 0;
    loop {
        let end = size.min(start + MAX_BLOCK);
        let (session, block) = (session.clone(), bytes.as_le_slice(&*store)[start..end].to_vec());
        let written = run_blocking(store, move || session.write(handle, &block, has_pending || end < size)).await?;
        if end == size || written.is_err() {
            return Ok(written);
        }
        start = end;
        yield_now().await;
    }
}

/// The error for a guest that violates the contract: without files, it must not call this interface.
fn no_files() -> FileError {
    FileError::Invalid("there are no files")
}
