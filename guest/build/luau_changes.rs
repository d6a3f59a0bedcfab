//! Changes the sources of Luau: replaces texts in a copy of a file.
//!
//! Each text must occur exactly once, so that another version of Luau fails the build instead of losing a change.

use anyhow::{Context, Result, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A text that is replaced in a file.
struct Change {
    /// The end of the path of the file.
    file: &'static str,
    /// The text at which the search begins, if the replaced text occurs several times in the file. The search ends at the next instruction
    /// of the interpreter.
    section: Option<&'static str>,
    original: &'static str,
    changed: &'static str,
}

/// The text between the instructions of the interpreter.
const NEXT_SECTION: &str = "\n            VM_CASE(";

const COMPILER: &str = "Compiler/src/Compiler.cpp";
const INTERPRETER: &str = "VM/src/lvmexecute.cpp";

const CHANGES: &[Change] = &[
    // The compiler marks inlined calls, for `runtime/frames.cpp`.
    Change {
        file: COMPILER,
        section: None,
        original: "inlineFrames.push_back({func, oldLocals, target, targetCount, resultLocal});",
        changed: "inlineFrames.push_back({func, oldLocals, target, targetCount, resultLocal}); const uint32_t inlineStart = bytecode.getDebugPC();",
    },
    Change {
        file: COMPILER,
        section: None,
        original: "patchJumps(expr, inlineFrames.back().returnJumps, returnLabel);",
        changed: "patchJumps(expr, inlineFrames.back().returnJumps, returnLabel); push_inline_mark(bytecode, names, expr, func, inlineStart);",
    },
    // Flags that never change are constants, and builtin functions are in the same file.
    Change {
        file: INTERPRETER,
        section: None,
        original: "// Disable c99-designator",
        changed: "#include \"vm/interpreter.h\"\n// Disable c99-designator",
    },
    // The guest has no native code and never runs a script step by step.
    Change { file: INTERPRETER, section: None, original: "#define VM_HAS_NATIVE 1", changed: "#define VM_HAS_NATIVE 0" },
    Change { file: INTERPRETER, section: None, original: "luau_execute<true>(L);", changed: "__builtin_trap();" },
    // wasm has no computed goto. The opcode is loaded before the jump to the switch.
    Change { file: INTERPRETER, section: None, original: "#define VM_USE_CGOTO 1", changed: "#define VM_USE_CGOTO 0" },
    Change {
        file: INTERPRETER,
        section: None,
        original: "#define VM_NEXT() goto dispatch\n",
        changed: "#define VM_NEXT() do { opcode = LUAU_INSN_OP(*pc); goto dispatch; } while (0)\n",
    },
    Change {
        file: INTERPRETER,
        section: None,
        original: "    dispatchOp = uint8_t(op); \\\n    goto dispatchContinue\n",
        changed: "    do { opcode = uint8_t(op); goto dispatch; } while (0)\n",
    },
    Change {
        file: INTERPRETER,
        section: None,
        original: "    const Instruction* pc;\n\n    // In debug builds",
        changed: "    const Instruction* pc;\n    uint32_t opcode;\n\n    // In debug builds",
    },
    Change {
        file: INTERPRETER,
        section: None,
        original: "        size_t dispatchOp = LUAU_INSN_OP(*pc);\n\n    dispatchContinue:\n        switch (dispatchOp)\n",
        changed: "        switch (opcode)\n",
    },
    // Frequent builtin functions are executed without an indirect call.
    Change {
        file: INTERPRETER,
        section: Some("VM_CASE(LOP_FASTCALL1)"),
        original: "int n = f(L,",
        changed: "int n = call_builtin(bfid, L,",
    },
    Change {
        file: INTERPRETER,
        section: Some("VM_CASE(LOP_FASTCALL2)"),
        original: "int n = f(L,",
        changed: "int n = call_builtin(bfid, L,",
    },
    Change {
        file: INTERPRETER,
        section: Some("VM_CASE(LOP_FASTCALL2K)"),
        original: "int n = f(L,",
        changed: "int n = call_builtin(bfid, L,",
    },
];

/// Writes a changed copy of a file. Returns its path, or `None` if the file stays as it is.
pub fn apply(source: &Path, out: &Path) -> Result<Option<PathBuf>> {
    let changes: Vec<&Change> = CHANGES.iter().filter(|change| source.ends_with(change.file)).collect();
    if changes.is_empty() {
        return Ok(None);
    }
    let mut text = fs::read_to_string(source)?;
    for change in changes {
        text = change
            .apply(&text)
            .with_context(|| format!("{} is from another version of Luau; update guest/build/luau_changes.rs", source.display()))?;
    }
    let copy = out.join(source.file_name().context("a source file has no name")?);
    fs::write(&copy, text)?;
    Ok(Some(copy))
}

impl Change {
    fn apply(&self, text: &str) -> Result<String> {
        let range = match self.section {
            None => 0..text.len(),
            Some(section) => {
                let start = find_once(text, section)?;
                let rest = &text[start + section.len()..];
                start..start + section.len() + rest.find(NEXT_SECTION).unwrap_or(rest.len())
            }
        };
        let start = range.start + find_once(&text[range], self.original)?;
        Ok([&text[..start], self.changed, &text[start + self.original.len()..]].concat())
    }
}

/// Returns the position of a text that occurs exactly once.
fn find_once(text: &str, part: &str) -> Result<usize> {
    let count = text.matches(part).count();
    ensure!(count == 1, "the text {part:?} occurs {count} times instead of once");
    text.find(part).context("the text is missing")
}
