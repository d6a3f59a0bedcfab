//! The reference implementation of Lua's `io` library: no buffers, one position per handle.

use super::{
    Format, Operation, SLOTS,
    disk::{Disk, Handle},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An open file.
struct Open<F> {
    file: F,
    name: &'static str,
    mode: &'static str,
    position: u64,
}

/// The state of the `io` library, on any disk.
pub struct Reference<D: Disk> {
    pub disk: D,
    slots: [Option<Open<D::File>>; SLOTS],
    /// The touched files, each with `true` if it was only appended to.
    pub touched: BTreeMap<String, bool>,
    max_bytes: u64,
    pub bytes_written: u64,
}

/// The returned values, or the message of the error.
type Answer = Result<Vec<Value>, String>;

impl<D: Disk> Reference<D> {
    pub fn new(disk: D, max_bytes: u64) -> Self {
        Self { disk, slots: Default::default(), touched: BTreeMap::new(), max_bytes, bytes_written: 0 }
    }

    fn touch(&mut self, name: &str, append: bool) {
        *self.touched.entry(name.to_owned()).or_insert(true) &= append;
    }

    /// Performs an operation.
    pub fn perform(&mut self, operation: &Operation) -> Answer {
        match operation {
            Operation::Open { slot, name, mode } => self.open(*slot, name, mode),
            Operation::Write { slot, unit, count } => self.write(*slot, &unit.repeat(*count)),
            Operation::Read { slot, formats } => self.read(*slot, formats),
            Operation::Seek { slot, whence, offset } => self.seek(*slot, whence, *offset),
            Operation::Flush { slot } => Ok(self.slots[slot - 1].iter().map(|_| json!("file")).collect()),
            Operation::Close { slot } => Ok(self.slots[slot - 1].take().iter().map(|_| json!(true)).collect()),
            Operation::Remove { name } => {
                if !self.disk.exists(name) {
                    return Err(format!("{name}: No such file or directory"));
                }
                self.disk.remove(name);
                self.touch(name, false);
                Ok(vec![json!(true)])
            }
            Operation::Rename { name, to } => self.rename(name, to),
            Operation::Exists { name } => Ok(vec![json!(self.disk.exists(name))]),
            Operation::List {} => Ok(vec![json!(self.disk.all().into_keys().collect::<Vec<_>>().join(" "))]),
            Operation::Spin {} => Ok(vec![]),
        }
    }

    fn rename(&mut self, old: &'static str, new: &'static str) -> Answer {
        if !self.disk.exists(old) {
            return Err(format!("{old}: No such file or directory"));
        }
        if old != new {
            self.disk.rename(old, new);
            self.touch(old, false);
            self.touch(new, false);
            // Errors of an open handle name the new path.
            self.slots.iter_mut().flatten().filter(|open| open.name == old).for_each(|open| open.name = new);
        }
        Ok(vec![json!(true)])
    }

    fn open(&mut self, slot: usize, name: &'static str, mode: &'static str) -> Answer {
        self.slots[slot - 1] = None;
        let exists = self.disk.exists(name);
        if mode.starts_with('r') && !exists {
            return Err(format!("{name}: No such file or directory; use io.exists(path) or pcall"));
        }
        let mut file = self.disk.open(name, mode);
        if mode.starts_with('w') || !exists {
            self.touch(name, mode.starts_with('a'));
        }
        let position = if mode == "a" { file.length() } else { 0 };
        self.slots[slot - 1] = Some(Open { file, name, mode, position });
        Ok(vec![json!("file")])
    }

    fn write(&mut self, slot: usize, text: &str) -> Answer {
        let Some(open) = &mut self.slots[slot - 1] else { return Ok(vec![]) };
        if matches!(open.mode, "r" | "rb") {
            return Err(format!("{}: Bad file descriptor", open.name));
        }
        let append = open.mode.starts_with('a');
        let position = if append { open.file.length() } else { open.position };
        let cost = position.saturating_sub(open.file.length()) + text.len() as u64;
        if self.bytes_written + cost > self.max_bytes {
            return Err(format!("I/O write limit exceeded ({} bytes)", self.max_bytes));
        }
        self.bytes_written += cost;
        open.file.write(position, text.as_bytes());
        open.position = position + text.len() as u64;
        let name = open.name;
        // A write to a removed file counts as a change too, and the file stays removed.
        self.touch(name, append);
        Ok(vec![json!("file")])
    }

    fn read(&mut self, slot: usize, formats: &[Format]) -> Answer {
        let Some(open) = &mut self.slots[slot - 1] else { return Ok(vec![]) };
        if matches!(open.mode, "w" | "a") {
            return Err(format!("{}: Bad file descriptor", open.name));
        }
        let mut values = Vec::new();
        for format in formats {
            let rest = open.file.rest(open.position);
            let (value, used) = take(format, &rest);
            open.position += used as u64;
            let end = value.is_none();
            values.push(value.unwrap_or_default());
            if end {
                break;
            }
        }
        Ok(values)
    }

    fn seek(&mut self, slot: usize, whence: &str, offset: i64) -> Answer {
        let Some(open) = &mut self.slots[slot - 1] else { return Ok(vec![]) };
        let base = match whence {
            "set" => 0,
            "cur" => open.position,
            _ => open.file.length(),
        };
        open.position = base.checked_add_signed(offset).ok_or(format!("{}: Invalid argument", open.name))?;
        Ok(vec![json!(open.position as f64)])
    }
}

/// Returns the value that a format reads from the rest of a file, and the number of bytes that it uses.
fn take(format: &Format, rest: &[u8]) -> (Option<Value>, usize) {
    let text = |bytes: &[u8], used| (Some(json!(brief(bytes))), used);
    match format {
        Format::Count(0) if !rest.is_empty() => text(b"", 0),
        Format::Name(name) if name.ends_with('a') => text(rest, rest.len()),
        Format::Name(name) if name.ends_with('n') => number(rest),
        _ if rest.is_empty() => (None, 0),
        Format::Count(count) => text(&rest[..rest.len().min(*count)], rest.len().min(*count)),
        Format::Name(name) => {
            let line = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let with_break = rest.len().min(line + 1);
            text(&rest[..if name.ends_with('L') { with_break } else { line }], with_break)
        }
    }
}

/// Reads a decimal number as C's `scanf` does. The tests contain no other numbers.
fn number(rest: &[u8]) -> (Option<Value>, usize) {
    let byte = |at: usize| rest.get(at).copied().unwrap_or_default();
    let digits = |mut at: usize| {
        while byte(at).is_ascii_digit() {
            at += 1;
        }
        at
    };
    let start = rest.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != 0x0b).unwrap_or(rest.len());
    let first = start + usize::from(matches!(byte(start), b'+' | b'-'));
    let mut mantissa = digits(first);
    if byte(mantissa) == b'.' {
        mantissa = digits(mantissa + 1);
    }
    if !rest[first..mantissa].iter().any(u8::is_ascii_digit) {
        return (None, mantissa);
    }
    let mut end = mantissa;
    let mut valid = mantissa;
    if matches!(byte(end), b'e' | b'E') {
        end += 1 + usize::from(matches!(byte(end + 1), b'+' | b'-'));
        let exponent = digits(end);
        valid = if exponent > end { exponent } else { mantissa };
        end = exponent;
    }
    let number: f64 = str::from_utf8(&rest[start..valid]).expect("ASCII").parse().expect("a number");
    if number.is_infinite() {
        return (Some(json!(number.to_string())), end);
    }
    (Some(json!(number)), end)
}

/// Shortens a long text as `scripts/io_driver.luau` does.
fn brief(bytes: &[u8]) -> String {
    let text = str::from_utf8(bytes).expect("ASCII");
    if text.len() <= 64 {
        return text.to_owned();
    }
    let sum: u64 = bytes.iter().enumerate().step_by(61).map(|(at, byte)| u64::from(*byte) * ((at as u64 + 1) % 1000)).sum();
    format!("{} {} {} {sum}", text.len(), &text[..16], &text[text.len() - 16..])
}
