//! The `ownerlint` command.

fn main() -> std::process::ExitCode {
    ownerlint::cli::main()
}
