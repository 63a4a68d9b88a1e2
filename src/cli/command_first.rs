//! Allows options before the command: `ownerlint --no-config list` is `ownerlint list --no-config`. clap accepts either
//! a default command with options or a command, so the command is moved to the front before clap parses the arguments.

use std::ffi::OsString;

use clap::{Arg, Command};

/// Moves the words of the command to the front of the arguments after the program's name. Does
/// nothing if `-V` or `--version` is given. `root` must be built.
pub(super) fn command_first(root: &Command, arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments
        .iter()
        .any(|argument| argument == "-V" || argument == "--version")
    {
        return arguments;
    }
    let known = options(root);
    let (mut command, mut words, mut others) = (root, Vec::new(), Vec::new());
    let mut rest = arguments.into_iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_str().unwrap_or_default();
        if text.len() > 1 && text.starts_with('-') && text != "--" {
            let value = if lacks_value(&known, text) {
                rest.next()
            } else {
                None
            };
            others.push(argument);
            others.extend(value);
        } else if let Some(found) = command.find_subcommand(text) {
            command = found;
            words.push(argument);
        } else {
            others.push(argument);
            break;
        }
    }
    words.into_iter().chain(others).chain(rest).collect()
}

/// Returns the options of the program and of all its commands; an option of one name has one meaning everywhere.
fn options(root: &Command) -> Vec<&Arg> {
    let (mut found, mut left) = (Vec::new(), vec![root]);
    while let Some(command) = left.pop() {
        found.extend(
            command
                .get_arguments()
                .filter(|argument| !argument.is_positional()),
        );
        left.extend(command.get_subcommands());
    }
    found
}

/// Whether the value of an option is the next argument: `--namespace shop`, `-n shop`, `-vn shop`, but not
/// `--namespace=shop` or `-nshop`.
fn lacks_value(known: &[&Arg], option: &str) -> bool {
    if let Some(name) = option.strip_prefix("--") {
        return known
            .iter()
            .any(|known| known.get_long() == Some(name) && known.get_action().takes_values());
    }
    let first = option.char_indices().skip(1).find(|(_, c)| {
        known
            .iter()
            .any(|arg| arg.get_short() == Some(*c) && arg.get_action().takes_values())
    });
    first.is_some_and(|(at, c)| at + c.len_utf8() == option.len())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::super::args::Cli;
    use super::*;

    fn ordered(line: &str) -> String {
        let mut root = Cli::command();
        root.build();
        let line = line.split(' ').map(OsString::from).collect();
        let ordered: Vec<_> = command_first(&root, line)
            .into_iter()
            .map(|word| word.into_string().expect("text"))
            .collect();
        ordered.join(" ")
    }

    #[test]
    fn options_are_moved_after_the_command() {
        assert_eq!(
            ordered("--no-config list web.yaml"),
            "list --no-config web.yaml"
        );
        assert_eq!(
            ordered("--color never plan -n shop delete ns/shop"),
            "plan delete --color never -n shop ns/shop"
        );
        assert_eq!(ordered("--color=never -v list"), "list --color=never -v");
    }

    #[test]
    fn option_value_is_not_taken_for_a_command() {
        for line in [
            "-n list web.yaml",
            "-vn list web.yaml",
            "--namespace list web.yaml",
        ] {
            assert_eq!(ordered(line), line);
        }
        assert_eq!(ordered("-nshop list"), "list -nshop");
    }

    #[test]
    fn words_after_path_or_double_dash_are_not_moved() {
        for line in [
            "web.yaml list",
            "-- list",
            "-V list",
            "- list",
            "--no-config web.yaml list",
            "plan delete list/delete",
        ] {
            assert_eq!(ordered(line), line);
        }
    }
}
