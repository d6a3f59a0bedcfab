//! The calls of the load with their expected outcomes, and a count of them.

use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, PoisonError},
};

/// A call of a tool.
pub struct Case {
    pub name: &'static str,
    pub tool: &'static str,
    pub arguments: fn() -> Value,
    /// The kind of the error that stops a script, or `None` if it succeeds.
    pub error: Option<&'static str>,
}

const fn script(name: &'static str, arguments: fn() -> Value, error: Option<&'static str>) -> Case {
    Case { name, tool: "execute_script", arguments, error }
}

const fn tool(tool: &'static str, arguments: fn() -> Value) -> Case {
    Case { name: tool, tool, arguments, error: None }
}

/// A script that ends only when it is stopped.
pub const ENDLESS: &str = "while true do end";

/// All calls. One client makes them in this order, so the file tools find the file that the first one writes.
pub const CASES: &[Case] = &[
    tool("write_file", || json!({ "path": "notes/a.txt", "content": "one\ntwo\n", "mode": "overwrite" })),
    script("result", || json!({ "script": "local t = {} for i = 1, 100 do t[i] = { n = i, s = ('%d'):format(i) } end return t" }), None),
    tool("read_file", || json!({ "path": "notes/a.txt" })),
    script("logs", || json!({ "script": "for i = 1, 300 do print(i, 'line') end progress(1, 2, 'half')" }), None),
    tool("edit_file", || json!({ "path": "notes/a.txt", "old": "two", "new": "three" })),
    script("runtime error", || json!({ "script": "local function f() error({ code = 1 }) end f()" }), Some("runtime")),
    tool("list_files", || json!({})),
    script("syntax error", || json!({ "script": "return )" }), Some("syntax")),
    tool("grep_files", || json!({ "pattern": "three" })),
    script("timeout", || json!({ "script": ENDLESS, "timeout_ms": 30 }), Some("timeout")),
    tool("glob_files", || json!({ "pattern": "**/*.txt" })),
    script("fuel", || json!({ "script": ENDLESS }), Some("fuel")),
    tool("search_docs", || json!({ "query": "item" })),
    script("memory", || json!({ "script": "local t = {} while true do t[#t + 1] = buffer.create(2^20) end" }), Some("memory")),
    script(
        "files",
        || {
            let write = "local f = io.open('lines.txt', 'w') for i = 1, 2000 do f:write(i, '\\n') end f:close()";
            let read = "local n = 0 for line in io.lines('lines.txt') do n += #line end os.remove('lines.txt') return n";
            json!({ "script": format!("{write} {read}") })
        },
        None,
    ),
    script("open file left to the host", || json!({ "script": "io.open('left.txt', 'w'):write('x') io.open('left.txt') return 1" }), None),
    script("large output", || json!({ "script": "print(('x'):rep(100000)) return ('y'):rep(200000)" }), None),
    script("API", || json!({ "script": "return sdk.api.get_item({ id = 7 }).id" }), None),
    script(
        "sdk.all",
        || json!({ "script": "local c = {} for i = 1, 8 do c[i] = { sdk.api.get_item, { id = i } } end return #sdk.all(c)" }),
        None,
    ),
    script("API error", || json!({ "script": "return sdk.api.get_item({ id = 404 })" }), Some("runtime")),
    script("upstream", || json!({ "script": "return sdk.up.add({ a = 1, b = 2 }).sum" }), None),
    script("upstream error", || json!({ "script": "return sdk.up.fail()" }), Some("runtime")),
];

impl Case {
    /// Returns the parameters of the `tools/call` request.
    pub fn params(&self) -> Value {
        json!({ "name": self.tool, "arguments": (self.arguments)() })
    }
}

/// Returns the parameters of a call that never ends by itself.
pub fn endless() -> Value {
    json!({ "name": "execute_script", "arguments": { "script": ENDLESS } })
}

/// The number of calls by name, and the calls with an unexpected outcome.
#[derive(Default)]
pub struct Report {
    counts: Mutex<BTreeMap<&'static str, u64>>,
    failures: Mutex<Vec<String>>,
}

impl Report {
    pub fn count(&self, name: &'static str) {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default() += 1;
    }

    pub fn fail(&self, name: &str, reason: impl fmt::Display) {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{name}: {reason}"));
    }

    /// Counts the response to a call, and compares its outcome with the expected one.
    pub fn add(&self, case: &Case, response: Result<Value>) {
        self.count(case.name);
        match response {
            Err(error) => self.fail(case.name, format!("{error:#}")),
            Ok(response) => {
                let result = &response["result"];
                let kind = result["structuredContent"]["error"]["kind"].as_str();
                let is_expected = result["isError"] == case.error.is_some() && (case.error.is_none() || kind == case.error);
                if !is_expected {
                    self.fail(case.name, response);
                }
            }
        }
    }

    /// Returns an error if a call had an unexpected outcome.
    pub fn check(&self) -> Result<()> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        match failures.first() {
            None => Ok(()),
            Some(first) => bail!("{} calls had an unexpected outcome; the first one: {first}", failures.len()),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, count) in counts.iter() {
            writeln!(f, "{count:>8} {name}")?;
        }
        write!(f, "{:>8} in total", counts.values().sum::<u64>())
    }
}
