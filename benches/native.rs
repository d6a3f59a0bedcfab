//! Native Luau as an embedder would use it: a fresh sandboxed VM per script, captured `print`, and the result as JSON.

use crate::native_io;
use mlua::chunk::Compiler;
use mlua::{Lua, MultiValue, Result, Value, Variadic};
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
