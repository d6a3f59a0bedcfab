//! `toolscript completions` and `toolscript man`: what shells and `man` need to know about the command line.

use super::output::Output;
use anyhow::{Context as _, Result};
use cap_std::{ambient_authority, fs::Dir};
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use std::{path::PathBuf, process::ExitCode};

#[derive(Args)]
pub struct CompletionsArguments {
    /// Shell that the completions are for
    shell: Shell,
}

#[derive(Args)]
pub struct ManArguments {
    /// Write a page for each command to this directory, created if it does not exist, instead of printing the page of the program
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints the completions for a shell.
pub fn completions(arguments: &CompletionsArguments, mut program: Command) -> Result<ExitCode> {
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, name, &mut script);
    print(&script)
}

/// Prints the manual page of the program, or writes the pages of all commands.
pub fn man(arguments: &ManArguments, program: Command) -> Result<ExitCode> {
    // Pages refer to each other by the names of commands, which `build` completes.
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let Some(directory) = &arguments.dir else { return print(&page(&program)?) };
    let context = || format!("can't write to {}", directory.display());
    Dir::create_ambient_dir_all(directory, ambient_authority()).with_context(context)?;
    let target = Dir::open_ambient_dir(directory, ambient_authority()).with_context(context)?;
    let mut commands = vec![&program];
    while let Some(command) = commands.pop() {
        let name = format!("{}.1", command.get_display_name().unwrap_or(command.get_name()));
        target.write(name, page(command)?).with_context(context)?;
        commands.extend(command.get_subcommands().filter(|command| !command.is_hide_set()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a manual page in the format of roff.
fn page(command: &Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page).context("can't write a manual page")?;
    Ok(page)
}

fn print(text: &[u8]) -> Result<ExitCode> {
    let mut output = Output::stdout();
    output.bytes(text);
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}
