//! The arguments of a script: every word after the file that is not an option of `run`, and everything after `--`.

use clap::Command;
use std::ffi::OsString;

/// Moves the arguments of a script that `run` executes behind `--`, where clap passes them on unchanged. `command` is the whole program.
pub fn separate(command: &Command, arguments: Vec<OsString>) -> Vec<OsString> {
    let Some(run) = command.find_subcommand("run").filter(|_| arguments.get(1).is_some_and(|name| name == "run")) else {
        return arguments;
    };
    let mut has_script = false;
    let (mut own, mut of_script) = (Vec::new(), Vec::new());
    let mut arguments = arguments.into_iter();
    own.extend(arguments.by_ref().take(2));
    while let Some(argument) = arguments.next() {
        // Text that is not UTF-8 is not an option.
        let text = argument.to_str().unwrap_or_default();
        let looks_like_option = text.len() > 1 && text.starts_with('-');
        if text == "--" {
            of_script.extend(arguments);
            break;
        } else if is_option(run, text) || (looks_like_option && !has_script) {
            has_script |= text.starts_with("-e");
            let takes_next = takes_next(run, text);
            own.push(argument);
            own.extend(arguments.by_ref().take(usize::from(takes_next)));
        } else if has_script {
            of_script.push(argument);
        } else {
            has_script = true;
            own.push(argument);
        }
    }
    if !of_script.is_empty() {
        own.push("--".into());
        own.extend(of_script);
    }
    own
}

/// Returns `true` if the value of an option is the next argument.
fn takes_next(run: &Command, argument: &str) -> bool {
    let takes_value = |option: &clap::Arg| option.get_action().takes_values();
    match argument.strip_prefix("--") {
        Some(name) => !name.contains('=') && find_long(run, name).is_some_and(takes_value),
        None => {
            let mut letters = argument.chars().skip(1);
            let option = letters.next().and_then(|letter| run.get_arguments().find(|option| option.get_short() == Some(letter)));
            letters.next().is_none() && option.is_some_and(takes_value)
        }
    }
}

fn is_option(run: &Command, argument: &str) -> bool {
    let name = argument.strip_prefix("--").and_then(|name| name.split('=').next());
    name.is_some_and(|name| name == "help" || find_long(run, name).is_some())
}

fn find_long<'a>(run: &'a Command, name: &str) -> Option<&'a clap::Arg> {
    run.get_arguments().find(|option| option.get_long_and_visible_aliases().is_some_and(|names| names.contains(&name)))
}
