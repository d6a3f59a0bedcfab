//! Random sequences of file operations. A script, a model in memory and native file calls must agree on every answer, on the contents of
//! the disk afterwards, and on the touched files.

mod disk;
mod reference;

use crate::support::{IoDir, engine};
use disk::{Disk, Memory, Native, contents};
use proptest::{collection::vec, prelude::*, sample::select};
use reference::Reference;
use serde::Serialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolscript::{Limits, Script, files::FileOperation};

/// The number of handles that a script can hold at once.
const SLOTS: usize = 3;

/// An operation of `scripts/io_driver.luau`.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
enum Operation {
    Open { slot: usize, name: &'static str, mode: &'static str },
    Write { slot: usize, unit: &'static str, count: usize },
    Read { slot: usize, formats: Vec<Format> },
    Seek { slot: usize, whence: &'static str, offset: i64 },
    Flush { slot: usize },
    Close { slot: usize },
    Remove { name: &'static str },
    Rename { name: &'static str, to: &'static str },
    Exists { name: &'static str },
    List {},
    Spin {},
}

/// An argument of `file:read`.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Format {
    Count(usize),
    Name(&'static str),
}

fn operation() -> impl Strategy<Value = Operation> {
    let slot = || 1..=SLOTS;
    let name = || select(vec!["a", "b", "c"]);
    let count = prop_oneof![4 => 1..20_usize, 2 => 5_000..9_000_usize, 1 => 30_000..70_000_usize];
    let format = prop_oneof![
        4 => select(vec!["*a", "*l", "*L", "*n", "a", "l", "L", "n"]).prop_map(Format::Name),
        2 => (0..30_usize).prop_map(Format::Count),
        1 => (60_000..140_000_usize).prop_map(Format::Count),
    ];
    let offset = prop_oneof![4 => -20..40_i64, 1 => -70_000..200_000_i64];
    prop_oneof![
        4 => (slot(), name(), select(vec!["r", "w", "a", "r+", "w+", "a+", "rb", "w+b"])).prop_map(|(slot, name, mode)| Operation::Open { slot, name, mode }),
        8 => (slot(), select(vec!["ab\n", "12 ", "7", "-3.5e1,", "\n", "\0\r\n", "1e+ ."]), count).prop_map(|(slot, unit, count)| Operation::Write { slot, unit, count }),
        6 => (slot(), vec(format, 1..3)).prop_map(|(slot, formats)| Operation::Read { slot, formats }),
        4 => (slot(), select(vec!["set", "cur", "end"]), offset).prop_map(|(slot, whence, offset)| Operation::Seek { slot, whence, offset }),
        1 => slot().prop_map(|slot| Operation::Flush { slot }),
        1 => slot().prop_map(|slot| Operation::Close { slot }),
        1 => name().prop_map(|name| Operation::Remove { name }),
        2 => (name(), name()).prop_map(|(name, to)| Operation::Rename { name, to }),
        1 => name().prop_map(|name| Operation::Exists { name }),
        1 => Just(Operation::List {}),
        1 => Just(Operation::Spin {}),
    ]
}

/// Performs all operations, and returns the answers in the form of `scripts/io_driver.luau`.
fn answers<D: Disk>(reference: &mut Reference<D>, operations: &[Operation]) -> Vec<Value> {
    let answer = |operation| match reference.perform(operation) {
        Ok(values) => json!({ "ok": true, "values": values }),
        Err(message) => json!({ "ok": false, "values": [message] }),
    };
    operations.iter().map(answer).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn a_script_a_model_and_native_files_agree(operations in vec(operation(), 1..60), max_bytes in select(vec![50 << 20, 1000, 70_000, 300_000])) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let mut dir = IoDir::new();
        dir.io.max_bytes = max_bytes;
        let script = Script::new(include_str!("../../scripts/io_driver.luau")).with_arguments([json!(operations).to_string()]);
        let mut limits = Limits::default();
        limits.result = 8 << 20;
        let run = runtime.block_on(engine().run(&script, dir.options().with_limits(limits))).expect("the run is accepted");
        let mut actual: Vec<Value> = run.outcome.decode().expect("answers");
        // JSON can represent the same number as an integer or a double. All are compared as doubles.
        for value in actual.iter_mut().flat_map(|answer| answer["values"].as_array_mut().into_iter().flatten()) {
            if let Some(number) = value.as_f64() {
                *value = json!(number);
            }
        }

        let mut model = Reference::new(Memory::default(), max_bytes);
        prop_assert_eq!(&actual, &answers(&mut model, &operations), "the model gives other answers");
        let mut native = Reference::new(Native(TempDir::new().expect("a directory")), max_bytes);
        prop_assert_eq!(&actual, &answers(&mut native, &operations), "native files give other answers");

        prop_assert_eq!(run.receipt.bytes_written, model.bytes_written);

        let on_disk = contents(&dir.path());
        prop_assert!(on_disk == model.disk.all(), "the contents differ from the model");
        prop_assert!(on_disk == native.disk.all(), "the contents differ from native files");

        let touched: Vec<_> = run.outcome.files_touched.iter().map(|file| (file.name.clone(), file.op, file.bytes, file.truncated)).collect();
        let expected: Vec<_> = model.touched.iter().map(|(name, append)| match on_disk.get(name) {
            None => (name.clone(), FileOperation::Remove, None, false),
            Some(content) => {
                let op = if *append { FileOperation::Append } else { FileOperation::Write };
                (name.clone(), op, Some(content.len() as u64), false)
            }
        }).collect();
        prop_assert_eq!(touched, expected);
    }
}
