//! Marks the loops of a guest, so that a run is metered by loop iterations and calls instead of single instructions.
//!
//! `config::codegen` gives every operator except `nop` the price 0, and wasmtime charges each entry of a function by itself. With a `nop` at the
//! start of each loop, every cycle of a function contains a charge: only loops can be branched to backwards.

use anyhow::{Result, anyhow, ensure};
use std::convert::Infallible;
use wasm_encoder::{
    CodeSection, Component, Instruction,
    reencode::{Error, Reencode, ReencodeComponent},
};
use wasmparser::{FunctionBody, Operator, Parser, Payload};

/// Returns the component with a `nop` at the start of each loop, and no other `nop`.
pub fn mark_loops(component: &[u8]) -> Result<Vec<u8>> {
    let mut marked = Component::new();
    Marker.parse_component(&mut marked, Parser::new(0), component).map_err(|error| anyhow!("marking the loops of the guest: {error}"))?;
    let marked = marked.finish();
    check(&marked)?;
    Ok(marked)
}

/// Copies functions and marks their loops.
struct Marker;

impl Reencode for Marker {
    type Error = Infallible;

    fn parse_function_body(&mut self, code: &mut CodeSection, body: FunctionBody<'_>) -> std::result::Result<(), Error<Infallible>> {
        let mut function = self.new_function_with_parsed_locals(&body)?;
        for operator in body.get_operators_reader()? {
            let operator = operator?;
            let is_loop = matches!(operator, Operator::Loop { .. });
            if !matches!(operator, Operator::Nop) {
                function.instruction(&self.instruction(operator)?);
            }
            if is_loop {
                function.instruction(&Instruction::Nop);
            }
        }
        code.function(&function);
        Ok(())
    }
}

impl ReencodeComponent for Marker {}

/// Checks that each loop begins with a `nop`, and that there are no others, in all modules of a component.
fn check(component: &[u8]) -> Result<()> {
    for payload in Parser::new(0).parse_all(component) {
        let Payload::CodeSectionEntry(body) = payload? else { continue };
        let mut after_loop = false;
        for operator in body.get_operators_reader()? {
            let operator = operator?;
            let is_charge = matches!(operator, Operator::Nop);
            ensure!(is_charge == after_loop, "the guest has a loop without a charge, or a charge without a loop");
            after_loop = matches!(operator, Operator::Loop { .. });
        }
    }
    Ok(())
}
