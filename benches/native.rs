//! Native Luau as an embedder would use it: a fresh sandboxed VM per script, captured `print`, and the result as JSON.

use crate::native_io;
use mlua::chunk::Compiler;
use mlua::{Lua, LuaSerdeExt, MultiValue, Result, Table, Value, Variadic};
use std::{cell::RefCell, path::Path, rc::Rc};

/// Runs a script in a new VM. Returns the result as JSON text and the printed lines.
pub fn run_native(source: &str, io_dir: Option<&Path>) -> Result<(String, Vec<String>)> {
    let lua = Lua::new();
    let lines = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&lines);
    let print = lua.create_function(move |_, values: Variadic<Value>| {
        let texts = values.iter().map(Value::to_string).collect::<Result<Vec<_>>>()?;
        sink.borrow_mut().push(texts.join("\t"));
        Ok(())
    })?;
    lua.globals().set("print", print)?;
    lua.globals().set("json", json(&lua)?)?;
    if let Some(directory) = io_dir {
        native_io::register(&lua, directory)?;
    }
    lua.sandbox(true)?;
    let compiler = Compiler::new().set_optimization_level(2).set_debug_level(1);
    let values: MultiValue = lua.load(source).set_name("=script").set_compiler(compiler).eval()?;
    let json = serde_json::to_string(&values.into_iter().next().unwrap_or(Value::Nil)).map_err(mlua::Error::external)?;
    let lines = lines.take();
    Ok((json, lines))
}

/// Returns `json` with `encode` and `decode`, which use the support for serde in mlua.
fn json(lua: &Lua) -> Result<Table> {
    let table = lua.create_table()?;
    let encode = |_: &Lua, value: Value| serde_json::to_string(&value).map_err(mlua::Error::external);
    let decode = |lua: &Lua, text: mlua::LuaString| {
        let value: serde_json::Value = serde_json::from_slice(&text.as_bytes()).map_err(mlua::Error::external)?;
        lua.to_value(&value)
    };
    table.set("encode", lua.create_function(encode)?)?;
    table.set("decode", lua.create_function(decode)?)?;
    Ok(table)
}
