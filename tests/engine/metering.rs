//! Nothing that a guest does is free: each cycle of a function contains a charge.

#[path = "../../guest/build/metering.rs"]
mod mark;

use wasmparser::{Catch, FunctionBody, Operator, Parser, Payload};

#[test]
fn each_cycle_of_the_guests_contains_a_charge() {
    let guests = [
        ("sandbox", toolscript::component::component().expect("a guest"), 900),
        ("checker", toolscript::component::checker().expect("a checker"), 100),
    ];
    for (name, component, least_loops) in guests {
        let marked = mark::mark_loops(component).expect("a marked guest");
        let functions = functions(&marked);
        let loops: usize = functions.iter().map(|function| function.loops).sum();
        assert!(loops > least_loops, "{name}: {loops} loops in {} functions", functions.len());
        let free = functions.iter().filter(|function| function.has_free_cycle()).count();
        assert_eq!(free, 0, "{name}: functions with a cycle that costs nothing");
        // Without the marks, the walk finds such cycles.
        let unmarked = self::functions(component);
        assert!(unmarked.iter().filter(|function| function.has_free_cycle()).count() > least_loops / 10, "{name}");
    }
}

#[test]
fn marks_are_made_once() {
    let component = toolscript::component::component().expect("a guest");
    let marked = mark::mark_loops(component).expect("a marked guest");
    assert_eq!(mark::mark_loops(&marked).expect("a marked guest"), marked);
    let charges =
        |component: &[u8]| functions(component).iter().flat_map(|function| function.charged.clone()).filter(|charged| *charged).count();
    assert!(charges(component) == 0 && charges(&marked) > 900, "{}", charges(&marked));
}

/// Returns the control flow of all functions of a component.
fn functions(component: &[u8]) -> Vec<ControlFlow> {
    let payloads = Parser::new(0).parse_all(component).map(|payload| payload.expect("a valid component"));
    payloads
        .filter_map(|payload| match payload {
            Payload::CodeSectionEntry(body) => Some(ControlFlow::of(&body)),
            _ => None,
        })
        .collect()
}

/// The control flow of a function: blocks of operators that are executed one after the other.
#[derive(Default)]
struct ControlFlow {
    /// Whether each block begins with a charge.
    charged: Vec<bool>,
    /// The blocks that can follow each block.
    next: Vec<Vec<usize>>,
    loops: usize,
}

/// An open structure of operators.
struct Frame {
    /// The block where a branch to this structure continues.
    target: usize,
    /// The block after its end.
    after: usize,
    /// The block of its `else`, which may be missing.
    alternative: Option<usize>,
    /// The blocks where exceptions continue that are thrown inside.
    handlers: Vec<usize>,
}

impl ControlFlow {
    fn of(body: &FunctionBody) -> Self {
        let mut flow = Self::default();
        let mut current = flow.block();
        let end = flow.block();
        let mut frames = vec![Frame { target: end, after: end, alternative: None, handlers: Vec::new() }];
        let target = |frames: &[Frame], depth: u32| frames[frames.len() - 1 - depth as usize].target;
        let mut is_start = true;
        for operator in body.get_operators_reader().expect("operators") {
            let operator = operator.expect("an operator");
            let starts_block = is_start;
            is_start = false;
            match &operator {
                // A charge later in a block would not cover an exception before it.
                Operator::Nop => {
                    assert!(starts_block, "a charge inside a block");
                    flow.charged[current] = true;
                }
                Operator::Block { .. } => {
                    let after = flow.block();
                    frames.push(Frame { target: after, after, alternative: None, handlers: Vec::new() });
                }
                Operator::Loop { .. } => {
                    flow.loops += 1;
                    let (header, after) = (flow.block(), flow.block());
                    flow.edge(current, header);
                    current = header;
                    is_start = true;
                    frames.push(Frame { target: header, after, alternative: None, handlers: Vec::new() });
                }
                Operator::If { .. } => {
                    let (consequence, alternative, after) = (flow.block(), flow.block(), flow.block());
                    flow.edge(current, consequence);
                    flow.edge(current, alternative);
                    current = consequence;
                    frames.push(Frame { target: after, after, alternative: Some(alternative), handlers: Vec::new() });
                }
                Operator::Else => {
                    let frame = frames.last_mut().expect("an if");
                    flow.edge(current, frame.after);
                    current = frame.alternative.take().expect("one else");
                }
                Operator::TryTable { try_table } => {
                    let handlers = try_table.catches.iter().map(|catch| match catch {
                        Catch::One { label, .. } | Catch::OneRef { label, .. } | Catch::All { label } | Catch::AllRef { label } => {
                            target(&frames, *label)
                        }
                    });
                    let handlers = handlers.collect();
                    let after = flow.block();
                    frames.push(Frame { target: after, after, alternative: None, handlers });
                }
                Operator::End => {
                    let frame = frames.pop().expect("a structure");
                    flow.edge(current, frame.after);
                    if let Some(alternative) = frame.alternative {
                        flow.edge(alternative, frame.after);
                    }
                    current = frame.after;
                }
                Operator::Br { relative_depth } => {
                    flow.edge(current, target(&frames, *relative_depth));
                    current = flow.block();
                }
                Operator::BrIf { relative_depth } => {
                    let following = flow.block();
                    flow.edge(current, target(&frames, *relative_depth));
                    flow.edge(current, following);
                    current = following;
                }
                Operator::BrTable { targets } => {
                    for depth in targets.targets().map(|depth| depth.expect("a depth")).chain([targets.default()]) {
                        flow.edge(current, target(&frames, depth));
                    }
                    current = flow.block();
                }
                Operator::Call { .. } | Operator::CallIndirect { .. } => flow.throw(current, &frames),
                Operator::Throw { .. } | Operator::ThrowRef => {
                    flow.throw(current, &frames);
                    current = flow.block();
                }
                Operator::Return | Operator::Unreachable => current = flow.block(),
                other => assert!(!is_unknown_branch(other), "the test does not know {other:?}"),
            }
        }
        assert!(frames.is_empty());
        flow
    }

    fn block(&mut self) -> usize {
        self.charged.push(false);
        self.next.push(Vec::new());
        self.charged.len() - 1
    }

    fn edge(&mut self, from: usize, to: usize) {
        self.next[from].push(to);
    }

    /// Connects a block in which an exception can be thrown with all handlers around it.
    fn throw(&mut self, from: usize, frames: &[Frame]) {
        for handler in frames.iter().flat_map(|frame| &frame.handlers) {
            self.next[from].push(*handler);
        }
    }

    /// Searches a cycle of blocks without a charge, depth first.
    fn has_free_cycle(&self) -> bool {
        let mut state = vec![State::New; self.charged.len()];
        for start in 0..state.len() {
            let mut path = vec![(start, 0)];
            while let Some((block, position)) = path.pop() {
                if self.charged[block] || (position == 0 && state[block] == State::Done) {
                    continue;
                }
                match self.next[block].get(position) {
                    None => state[block] = State::Done,
                    Some(next) => {
                        state[block] = State::Open;
                        path.push((block, position + 1));
                        match state[*next] {
                            State::Open => return true,
                            State::New => path.push((*next, 0)),
                            State::Done => {}
                        }
                    }
                }
            }
        }
        false
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}

/// Returns whether an operator can continue elsewhere and is none of those that [`ControlFlow::of`] handles.
fn is_unknown_branch(operator: &Operator) -> bool {
    let name = format!("{operator:?}");
    ["Br", "Return", "Call", "Try", "Catch", "Throw", "Rethrow", "Delegate", "Resume", "Suspend", "Switch"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}
