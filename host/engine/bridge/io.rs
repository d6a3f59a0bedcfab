//! `toolscript:sandbox/io`: the files of a run.

use super::{Done, State, begin, blocking, define_blocking, give_way};
use crate::files::{FileError, FileSession, MAX_BLOCK, MAX_NAMES, MAX_PATH, OpenMode, Whence};
use wasmtime::{
    StoreContextMut,
    component::{ComponentType, Linker, Lower, Resource, ResourceType, WasmList},
};

/// A file of the guest's; the number of its handle in the session.
struct File;

/// What the guest is told when a call does not succeed.
#[derive(ComponentType, Lower)]
#[component(variant)]
enum Error {
    #[component(name = "invalid")]
    Invalid(String),
    #[component(name = "limit")]
    Limit(String),
    #[component(name = "refused")]
    Refused(RunRejected),
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct RunRejected {
    message: String,
    number: i32,
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Invalid(message) => Self::Invalid(message.into()),
            // No call of a script's ends in these.
            FileError::Argument(_) | FileError::Interrupted | FileError::Failed => Self::Invalid(error.to_string()),
            FileError::Limit(message) => Self::Limit(message),
            FileError::System { message, number, .. } => Self::Refused(RunRejected { message, number }),
        }
    }
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct Opened {
    file: Resource<File>,
    allowance: u64,
}

/// What every call answers with.
type Answer<R> = (Result<R, Error>,);

pub fn add_to_linker<T: State>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    let mut io = linker.instance("toolscript:sandbox/io@0.1.0")?;
    io.resource_async("file", ResourceType::host::<File>(), |mut store, number| {
        Box::new(async move {
            let began = begin(&mut store).await?;
            if let Some(session) = &store.data().as_ref().files {
                session.close(number);
            }
            T::end_call(&mut store, began.elapsed(), 0)
        })
    })?;
    define_blocking(&mut io, "[method]file.read", |store, (file, most): (Resource<File>, u32)| {
        with_session(store, move |session| session.read(file.rep(), most as usize), |bytes| bytes.as_ref().map_or(0, Vec::len))
    })?;
    define_blocking(&mut io, "[method]file.remaining", |store, (file,): (Resource<File>,)| {
        with_session(store, move |session| session.remaining(file.rep()), nothing_moved)
    })?;
    io.func_wrap_async("[method]file.write", |mut store, (file, bytes, waiting): (Resource<File>, WasmList<u8>, bool)| {
        Box::new(async move {
            let began = begin(&mut store).await?;
            let written = write(&mut store, file.rep(), &bytes, waiting).await?;
            T::end_call(&mut store, began.elapsed(), bytes.len())?;
            Ok((written.map_err(Error::from),))
        })
    })?;
    define_blocking(&mut io, "[method]file.seek", |store, (file, whence, offset): (Resource<File>, Whence, i64)| {
        with_session(store, move |session| session.seek(file.rep(), whence, offset), nothing_moved)
    })?;
    define_blocking(&mut io, "open", |store, (path, mode): (WasmList<u8>, OpenMode)| {
        let path = take_path(store, &path);
        let open = move |session: &FileSession| {
            let (handle, allowance) = session.open(&path?, mode)?;
            Ok(Opened { file: Resource::new_own(handle), allowance })
        };
        with_session(store, open, nothing_moved)
    })?;
    define_blocking(&mut io, "list", |store, (path,): (WasmList<u8>,)| {
        let path = take_path(store, &path);
        with_session(store, move |session| session.list(&path?), listing_cost)
    })?;
    define_blocking(&mut io, "remove", |store, (path,): (WasmList<u8>,)| {
        let path = take_path(store, &path);
        with_session(store, move |session| session.remove(&path?), nothing_moved)
    })
}

/// What a name of a listing costs beside its bytes: the system is asked for it, and it is sorted.
const NAME_COST: usize = 1000;

fn listing_cost(names: &Result<Vec<String>, FileError>) -> usize {
    match names {
        Ok(names) => names.iter().map(|name| name.len() + NAME_COST).sum(),
        Err(FileError::Limit(_)) => MAX_NAMES * NAME_COST,
        Err(_) => 0,
    }
}

fn nothing_moved<R>(_: &R) -> usize {
    0
}

/// Work on the session of a run; a run without one has no files at all.
fn with_session<T: State, R, Work, Moved>(
    store: &StoreContextMut<'_, T>,
    work: Work,
    moved: Moved,
) -> impl FnOnce() -> Done<Answer<R>> + use<T, R, Work, Moved>
where
    Work: FnOnce(&FileSession) -> Result<R, FileError>,
    Moved: FnOnce(&Result<R, FileError>) -> usize,
{
    let session = store.data().as_ref().files.clone();
    move || {
        let result = session.as_ref().map_or_else(|| Err(no_files()), work);
        let moved = moved(&result);
        Done { results: (result.map_err(Error::from),), moved }
    }
}

/// A copy of a path, if it is not too long.
fn take_path<T: State>(store: &StoreContextMut<'_, T>, path: &WasmList<u8>) -> Result<Vec<u8>, FileError> {
    if path.len() > MAX_PATH {
        return Err(FileError::Invalid("path is too long"));
    }
    Ok(path.as_le_slice(store).to_vec())
}

/// Writes all the bytes, a block at a time: only a copy of one is held.
async fn write<T: State>(
    store: &mut StoreContextMut<'_, T>,
    number: u32,
    bytes: &WasmList<u8>,
    waiting: bool,
) -> wasmtime::Result<Result<u64, FileError>> {
    let Some(session) = store.data().as_ref().files.clone() else { return Ok(Err(no_files())) };
    let size = bytes.len();
    // If a stop comes before all of it is done, the file lacks bytes.
    let announced = session.set_pending(number, waiting || size > 0);
    if size == 0 || announced.is_err() {
        return Ok(announced);
    }
    if size > MAX_BLOCK {
        let session = session.clone();
        if let Err(error) = blocking(store, move || session.check_write(number, size as u64)).await? {
            return Ok(Err(error));
        }
    }
    let mut start = 0;
    loop {
        let end = size.min(start + MAX_BLOCK);
        let (session, block) = (session.clone(), bytes.as_le_slice(&*store)[start..end].to_vec());
        let written = blocking(store, move || session.write(number, &block, waiting || end < size)).await?;
        if end == size || written.is_err() {
            return Ok(written);
        }
        start = end;
        give_way().await;
    }
}

/// A guest that breaks the contract: its scripts have no `io`.
fn no_files() -> FileError {
    FileError::Invalid("there are no files")
}
