//! The `toolscript` program.

fn main() -> std::process::ExitCode {
    toolscript::cli::main()
}
