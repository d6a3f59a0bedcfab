//! Random scripts: whatever runs without an error is never rejected.
//!
//! The scripts read unknown names only where they ask whether the names exist, or where the error is caught. The plain value of an unknown name is
//! nil at run time, but an error of the check on purpose (docs/checking.md).

use crate::support::run_with;
use toolscript::{
    Files, Limits, RunOptions,
    engine::{CheckMode, IoOptions},
};

/// A small generator of random numbers, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// Names that are sometimes locals and sometimes globals.
const NAMES: [&str; 8] = ["a", "b", "total", "rows", "list", "names", "result", "next_page"];

const MEMBERS: [&str; 9] =
    ["string.format", "table.concat", "table.unpack", "math.floor", "os.time", "json.encode", "io.open", "utf8.char", "table.pack"];

/// Names that do not exist.
const UNKNOWN: [&str; 8] = ["string.trim", "math.type", "os.exit", "io.popen", "missing", "DEBUG", "socket.gettime", "rows.key.key"];

/// Changes of a list whose elements have a known type, and uses of its elements.
const LISTS: [&str; 10] = [
    "list = io.list()",
    "local list = io.list()",
    "list[#list + 1] = { key = { key = 'a' } }",
    "list[1] = { key = 'v' }",
    "table.insert(list, { key = 1 })",
    "for i, v in ipairs(list) do list[i] = { key = v } end",
    "for _, v in list do print(type(v) == 'table' and v.key) end",
    "print(list[1] and list[1].key)",
    "local first = list[1] if first and first.key then print(first.key) end",
    "table.sort(list, function(x, y) return tostring(x.key) < tostring(y.key) end)",
];

const VALUES: [&str; 9] = ["1", "2.5", "'text'", "nil", "true", "{}", "{ 1, 2, 3 }", "{ key = 'value' }", "function(x) return x end"];

fn expression(random: &mut Random, depth: usize) -> String {
    let inner = |random: &mut Random| if depth == 0 { random.pick(&VALUES).to_owned() } else { expression(random, depth - 1) };
    match random.below(17) {
        0 | 1 => random.pick(&NAMES).to_owned(),
        2 => random.pick(&MEMBERS).to_owned(),
        12 => format!("type({})", random.pick(&UNKNOWN[..6])),
        13 => format!("({} or {})", random.pick(&UNKNOWN[..6]), inner(random)),
        14 => format!("({} and {})", random.pick(&UNKNOWN[..6]), inner(random)),
        15 => format!("({} or {})", random.pick(&MEMBERS), random.pick(&UNKNOWN)),
        16 => format!("(pcall(function() return {}({}) end))", random.pick(&UNKNOWN), inner(random)),
        3 => format!("({} or {})", inner(random), inner(random)),
        4 => format!("({} and {})", inner(random), inner(random)),
        5 => format!("({} == {})", inner(random), inner(random)),
        6 => format!("type({})", inner(random)),
        7 => format!("select('#', pcall(function() return {} end))", inner(random)),
        8 => {
            let function = if random.below(2) == 0 { random.pick(&MEMBERS) } else { random.pick(&UNKNOWN[..6]) };
            format!("(pcall({function}, {}))", inner(random))
        }
        9 => format!("{{ {}, field = {} }}", inner(random), inner(random)),
        10 => format!("not {}", inner(random)),
        _ => random.pick(&VALUES).to_owned(),
    }
}

fn statement(random: &mut Random, depth: usize) -> String {
    match random.below(12) {
        8 | 9 => random.pick(&LISTS).to_owned(),
        10 => {
            let name = random.pick(&NAMES);
            format!("local {name} = {} if {name} then print({name}) end", random.pick(&UNKNOWN[..6]))
        }
        11 => format!("local function helper() return {}() end pcall(function() return helper() end)", random.pick(&UNKNOWN)),
        0 => format!("local {} = {}", random.pick(&NAMES), expression(random, 2)),
        1 => format!("{} = {}", random.pick(&NAMES), expression(random, 2)),
        2 if depth > 0 => {
            format!("if {} then {} else {} end", expression(random, 1), statement(random, depth - 1), statement(random, depth - 1))
        }
        3 if depth > 0 => format!("for i = 1, 2 do {} end", statement(random, depth - 1)),
        4 if depth > 0 => format!("pcall(function() {} end)", statement(random, depth - 1)),
        5 => format!("function {}() return {} end", random.pick(&NAMES), expression(random, 1)),
        6 => format!("print({})", expression(random, 1)),
        _ => format!("{} = {} or {}", random.pick(&NAMES), random.pick(&NAMES), expression(random, 1)),
    }
}

#[tokio::test]
async fn a_random_script_that_works_is_not_rejected() {
    let mut random = Random(20_261_118);
    let limits = Limits::default().with_timeout(std::time::Duration::from_secs(5));
    let directory = tempfile::TempDir::new().expect("a directory");
    std::fs::write(directory.path().join("a.txt"), "a").expect("a file");
    let io = IoOptions::new(Files::new(directory.path()).expect("files"));
    let (mut worked, mut with_unknown) = (0, 0);
    for _ in 0..3000 {
        let start = NAMES.iter().map(|name| if random.below(2) == 0 { format!("local {name} = {{}}") } else { format!("{name} = {{}}") });
        let mut statements: Vec<String> = start.collect();
        statements.extend((0..1 + random.below(6)).map(|_| statement(&mut random, 2)));
        let script = statements.join("\n");
        let options = || RunOptions::default().with_limits(limits.clone()).with_io(io.clone());
        if run_with(&script, options()).await.outcome.result.is_err() {
            continue;
        }
        worked += 1;
        with_unknown += usize::from(UNKNOWN.iter().any(|name| script.contains(name)));
        if let Err(error) = run_with(&script, options().with_check(CheckMode::Errors)).await.outcome.result {
            assert!(error.diagnostics.is_empty(), "{script}\n{error:?}");
        }
    }
    assert!(worked > 1000 && with_unknown > 500, "{worked}, {with_unknown}");
}
