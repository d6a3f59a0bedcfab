//! An `io` library for native Luau as an embedder would write it: one directory, `std::fs::File` and 64 KiB buffers.

use mlua::{AnyUserData, Error, Lua, LuaString, MetaMethod, Result, UserData, UserDataMethods, Value, Variadic};
use std::{
    fs::{File, OpenOptions, create_dir_all},
    io::{BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Component, Path, PathBuf},
};

const BUFFER_SIZE: usize = 64 * 1024;

enum Stream {
    Reader(BufReader<File>),
    Writer(BufWriter<File>),
    Closed,
}

struct Handle {
    stream: Stream,
    line: Vec<u8>,
}

fn closed() -> Error {
    Error::runtime("attempt to use a closed file")
}

impl Handle {
    fn reader(&mut self) -> Result<&mut BufReader<File>> {
        match &mut self.stream {
            Stream::Reader(reader) => Ok(reader),
            _ => Err(closed()),
        }
    }

    fn writer(&mut self) -> Result<&mut BufWriter<File>> {
        match &mut self.stream {
            Stream::Writer(writer) => Ok(writer),
            _ => Err(closed()),
        }
    }

    fn read_line(&mut self, lua: &Lua) -> Result<Option<LuaString>> {
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        let count = self.reader()?.read_until(b'\n', &mut line)?;
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let result = if count == 0 { None } else { Some(lua.create_string(text)?) };
        self.line = line;
        Ok(result)
    }

    fn read_all(&mut self, lua: &Lua) -> Result<LuaString> {
        let reader = self.reader()?;
        let mut bytes = reader.buffer().to_vec();
        reader.consume(bytes.len());
        let rest = reader.get_ref().metadata()?.len().saturating_sub(reader.stream_position()?);
        bytes.reserve_exact(usize::try_from(rest).map_err(Error::external)?);
        reader.get_mut().read_to_end(&mut bytes)?;
        lua.create_string(bytes)
    }
}

impl UserData for Handle {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method_mut("read", |lua, this, format: Option<String>| match format.as_deref().unwrap_or("*l") {
            "*a" => this.read_all(lua).map(Some),
            "*l" => this.read_line(lua),
            other => Err(Error::runtime(format!("invalid format: {other}"))),
        });
        methods.add_function("write", |_, (this, values): (AnyUserData, Variadic<Value>)| {
            let mut handle = this.borrow_mut::<Self>()?;
            let writer = handle.writer()?;
            for value in values.iter() {
                match value {
                    Value::String(text) => writer.write_all(&text.as_bytes())?,
                    Value::Integer(number) => write!(writer, "{number}")?,
                    Value::Number(number) => write!(writer, "{number}")?,
                    _ => return Err(Error::runtime("write expects strings or numbers")),
                }
            }
            drop(handle);
            Ok(this)
        });
        methods.add_method_mut("seek", |_, this, offset: u64| Ok(this.reader()?.seek(SeekFrom::Start(offset))?));
        methods.add_method_mut("close", |_, this, ()| {
            if let Stream::Writer(mut writer) = std::mem::replace(&mut this.stream, Stream::Closed) {
                writer.flush()?;
            }
            Ok(true)
        });
        methods.add_meta_method(MetaMethod::ToString, |_, _, ()| Ok("file"));
    }
}

fn resolve(root: &Path, name: &str) -> Result<PathBuf> {
    let path = Path::new(name);
    if name.is_empty() || path.is_absolute() || path.components().any(|component| component == Component::ParentDir) {
        return Err(Error::runtime("path must be relative"));
    }
    Ok(root.join(path))
}

fn open(root: &Path, name: &str, mode: &str) -> Result<Handle> {
    let path = resolve(root, name)?;
    let stream = match mode {
        "r" => Stream::Reader(BufReader::with_capacity(BUFFER_SIZE, File::open(path)?)),
        "w" => {
            if let Some(parent) = path.parent() {
                create_dir_all(parent)?;
            }
            let file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
            Stream::Writer(BufWriter::with_capacity(BUFFER_SIZE, file))
        }
        other => return Err(Error::runtime(format!("invalid mode: {other}"))),
    };
    Ok(Handle { stream, line: Vec::new() })
}

/// Registers `io.open`, `io.lines` and `os.remove` for a directory.
pub fn register(lua: &Lua, root: &Path) -> Result<()> {
    let io = lua.create_table()?;
    let dir = root.to_owned();
    io.set(
        "open",
        lua.create_function(move |_, (name, mode): (String, Option<String>)| open(&dir, &name, mode.as_deref().unwrap_or("r")))?,
    )?;
    let dir = root.to_owned();
    let lines = lua.create_function(move |lua, name: String| {
        let mut handle = open(&dir, &name, "r")?;
        lua.create_function_mut(move |lua, ()| handle.read_line(lua))
    })?;
    io.set("lines", lines)?;
    lua.globals().set("io", io)?;
    let dir = root.to_owned();
    let remove = lua.create_function(move |_, name: String| Ok(std::fs::remove_file(resolve(&dir, &name)?)?))?;
    lua.globals().get::<mlua::Table>("os")?.set("remove", remove)
}
