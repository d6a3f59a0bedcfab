//! Random scripts: whatever runs without an error is never rejected.

use crate::support::run_with;
use toolscript::{Limits, RunOptions, engine::CheckMode};

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

/// Names that are sometimes locals, sometimes globals, and sometimes neither.
const NAMES: [&str; 8] = ["a", "b", "total", "rows", "print", "string", "result", "next_page"];

const MEMBERS: [&str; 12] = [
    "string.format",
    "string.trim",
    "table.concat",
    "table.unpack",
    "math.floor",
    "math.type",
    "os.time",
    "os.exit",
    "json.encode",
    "io.open",
    "utf8.char",
    "table.pack",
];

const VALUES: [&str; 9] = ["1", "2.5", "'text'", "nil", "true", "{}", "{ 1, 2, 3 }", "{ key = 'value' }", "function(x) return x end"];

fn expression(random: &mut Random, depth: usize) -> String {
    let inner = |random: &mut Random| if depth == 0 { random.pick(&VALUES).to_owned() } else { expression(random, depth - 1) };
    match random.below(12) {
        0 | 1 => random.pick(&NAMES).to_owned(),
        2 => random.pick(&MEMBERS).to_owned(),
        3 => format!("({} or {})", inner(random), inner(random)),
        4 => format!("({} and {})", inner(random), inner(random)),
        5 => format!("({} == {})", inner(random), inner(random)),
        6 => format!("type({})", inner(random)),
        7 => format!("select('#', pcall(function() return {} end))", inner(random)),
        8 => format!("(pcall({}, {}))", random.pick(&MEMBERS), inner(random)),
        9 => format!("{{ {}, field = {} }}", inner(random), inner(random)),
        10 => format!("not {}", inner(random)),
        _ => random.pick(&VALUES).to_owned(),
    }
}

fn statement(random: &mut Random, depth: usize) -> String {
    match random.below(8) {
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

/// A value of an unknown name is an error of the check although it is nil at run time. Such scripts are not counted.
fn is_about_values(message: &str) -> bool {
    message.contains("unknown global") || message.contains(" has no '")
}

#[tokio::test]
async fn a_random_script_that_works_is_not_rejected() {
    let mut random = Random(20_261_118);
    let limits = Limits::default().with_timeout(std::time::Duration::from_secs(5));
    let (mut worked, mut rejected) = (0, 0);
    for _ in 0..3000 {
        let statements: Vec<String> = (0..1 + random.below(5)).map(|_| statement(&mut random, 2)).collect();
        let script = statements.join("\n");
        let options = || RunOptions::default().with_limits(limits.clone());
        if run_with(&script, options()).await.outcome.result.is_err() {
            continue;
        }
        worked += 1;
        if let Err(error) = run_with(&script, options().with_check(CheckMode::Errors)).await.outcome.result {
            rejected += 1;
            assert!(error.diagnostics.iter().all(|mistake| is_about_values(&mistake.message)), "{script}\n{error:?}");
        }
    }
    eprintln!("{worked} scripts worked; {rejected} of them read a name that does not exist, and were rejected");
    assert!(worked > 1000, "{worked}");
}
