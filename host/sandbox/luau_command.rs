//! Parses the `luau` command, the only one supported.

/// The forms of the command, for error messages.
const USAGE: &str = "use luau FILE [ARGS…], luau -e CODE [ARGS…], or luau - [ARGS…] <<'END' followed by the script and END";

/// Shell operators, which are rejected.
const OPERATORS: [&str; 5] = ["|", "||", "&", "&&", ";"];

/// A parsed `luau` command.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    pub script: Source,
    pub arguments: Vec<String>,
}

/// The source of the script.
#[derive(Debug, PartialEq, Eq)]
pub enum Source {
    /// The source text itself.
    Text(String),
    /// The path of a file.
    File(String),
}

impl Command {
    /// Splits a command into words as a shell does. Returns a message if the command is invalid.
    pub fn parse(command: &str) -> Result<Self, String> {
        let (words, document) = words(command)?;
        let mut words = words.into_iter();
        match words.next().as_deref() {
            Some("luau") => {}
            Some(other) => return Err(format!("unknown command '{}'; {USAGE}", other.escape_debug())),
            None => return Err(USAGE.into()),
        }
        let script = match (words.next().as_deref(), document) {
            (Some("-"), Some(document)) => Source::Text(document),
            (Some("-"), None) => return Err(format!("'-' requires a here-document; {USAGE}")),
            (_, Some(_)) => return Err(format!("a here-document requires 'luau -'; {USAGE}")),
            (Some("-e"), None) => Source::Text(words.next().ok_or_else(|| format!("'-e' requires CODE; {USAGE}"))?),
            (Some(option), None) if option.starts_with('-') => {
                return Err(format!("unknown option '{}'; {USAGE}", option.escape_debug()));
            }
            (Some(file), None) => Source::File(file.into()),
            (None, None) => return Err(USAGE.into()),
        };
        let mut arguments: Vec<String> = words.collect();
        // The parser does not keep quotes, so a quoted operator is rejected too.
        let is_operator = |word: &&String| OPERATORS.contains(&word.as_str()) || word.starts_with(['>', '<']) || word.starts_with("2>");
        if let Some(operator) = arguments.iter().find(is_operator) {
            return Err(format!("'{}' is not supported, there is no shell; {USAGE}", operator.escape_debug()));
        }
        if arguments.first().is_some_and(|argument| argument == "--") {
            arguments.remove(0);
        }
        Ok(Self { script, arguments })
    }
}

/// Returns the words of a command, and its here-document.
fn words(command: &str) -> Result<(Vec<String>, Option<String>), String> {
    let command = command.trim();
    let (first, rest) = command.split_once('\n').unwrap_or((command, ""));
    // If all quotes are closed on the first line, only a here-document can follow it.
    let Some(mut words) = shlex::split(first.trim_end()) else {
        let words = shlex::split(command).ok_or_else(|| format!("unclosed quote; {USAGE}"))?;
        return Ok((words, None));
    };
    let Some(delimiter) = take_delimiter(&mut words) else {
        return if rest.trim().is_empty() { Ok((words, None)) } else { Err(format!("the command has more than one line; {USAGE}")) };
    };
    let lines = rest.split_inclusive('\n');
    let is_end = |line: &&str| line.trim_end_matches(['\r', '\n']) == delimiter;
    let document: String = lines.clone().take_while(|line| !is_end(line)).collect();
    match rest[document.len()..].split_once('\n').unwrap_or((&rest[document.len()..], "")) {
        ("", _) => Err(format!("the here-document does not end with '{}'", delimiter.escape_debug())),
        (_, after) if !after.trim().is_empty() => Err(format!("unexpected text after the here-document; {USAGE}")),
        _ => Ok((words, Some(document))),
    }
}

/// Removes and returns the delimiter of a here-document: `<<END` or `<< END`.
fn take_delimiter(words: &mut Vec<String>) -> Option<String> {
    let position = words.iter().position(|word| word.starts_with("<<"))?;
    let delimiter = words.remove(position).split_off(2);
    if delimiter.is_empty() { (position < words.len()).then(|| words.remove(position)) } else { Some(delimiter) }
}

#[cfg(test)]
mod tests {
    use super::{Command, Source};

    fn parse(command: &str) -> (Source, Vec<String>) {
        let Command { script, arguments } = Command::parse(command).unwrap();
        (script, arguments)
    }

    fn text(text: &str) -> Source {
        Source::Text(text.into())
    }

    #[test]
    fn commands_are_split_as_a_shell_splits_them() {
        assert_eq!(parse("luau a.luau"), (Source::File("a.luau".into()), vec![]));
        assert_eq!(
            parse("  luau 'my file.luau' one \"two three\" -- -x"),
            (Source::File("my file.luau".into()), words(&["one", "two three", "--", "-x"]))
        );
        assert_eq!(parse("luau a -- -x"), (Source::File("a".into()), words(&["-x"])));
        assert_eq!(parse("luau -e 'print(\"a\")\nprint(2)' x"), (text("print(\"a\")\nprint(2)"), words(&["x"])));
        assert_eq!(parse("luau - a <<'END' b\nprint(\"it's\")\nEND"), (text("print(\"it's\")\n"), words(&["a", "b"])));
        assert_eq!(parse("luau - <<END\r\nx\r\nEND\r\n\r\n"), (text("x\r\n"), vec![]));
        assert_eq!(parse("luau - << 'END'\nprint(\"it's\")\n\nEND"), (text("print(\"it's\")\n\n"), vec![]));
        assert_eq!(parse("luau -e 'return 1 << 2\n'"), (text("return 1 << 2\n"), vec![]));
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn invalid_commands_are_rejected_with_the_reason() {
        let usage = super::USAGE;
        for (command, message) in [
            ("", usage.to_owned()),
            ("luau", usage.to_owned()),
            ("ls -la", format!("unknown command 'ls'; {usage}")),
            ("luau -x", format!("unknown option '-x'; {usage}")),
            ("luau -e", format!("'-e' requires CODE; {usage}")),
            ("luau 'a", format!("unclosed quote; {usage}")),
            ("luau a | sort", format!("'|' is not supported, there is no shell; {usage}")),
            ("luau a >out.txt", format!("'>out.txt' is not supported, there is no shell; {usage}")),
            ("luau a\nluau b", format!("the command has more than one line; {usage}")),
            ("luau -", format!("'-' requires a here-document; {usage}")),
            ("luau - <<END\nx\nEND\nluau b", format!("unexpected text after the here-document; {usage}")),
            ("luau a <<END\nx\nEND", format!("a here-document requires 'luau -'; {usage}")),
            ("luau - <<END\nx", "the here-document does not end with 'END'".to_owned()),
        ] {
            assert_eq!(Command::parse(command).unwrap_err(), message);
        }
    }
}
