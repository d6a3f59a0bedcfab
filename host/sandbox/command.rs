//! Commands as a shell has them, of which there is one.

/// What there is instead of a shell.
const USAGE: &str = "a command is one call of luau: luau FILE args…, luau -e CODE args…, or luau - <<'END' with the script behind it";

/// What a shell would do something else with.
const OPERATORS: [&str; 5] = ["|", "||", "&", "&&", ";"];

/// A call of `luau`.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    pub script: Source,
    pub arguments: Vec<String>,
}

/// Where the script is.
#[derive(Debug, PartialEq, Eq)]
pub enum Source {
    Text(String),
    File(String),
}

impl Command {
    /// Splits a command into words as a shell does, or says what is wrong with it.
    pub fn parse(command: &str) -> Result<Self, String> {
        let (words, document) = words(command)?;
        let mut words = words.into_iter();
        match words.next().as_deref() {
            Some("luau") => {}
            Some(other) => return Err(format!("there is no command '{}'; {USAGE}", other.escape_debug())),
            None => return Err(USAGE.into()),
        }
        let script = match (words.next().as_deref(), document) {
            (Some("-"), Some(document)) => Source::Text(document),
            (Some("-"), None) => return Err(format!("'-' needs a here-document; {USAGE}")),
            (_, Some(_)) => return Err(format!("a here-document is for 'luau -'; {USAGE}")),
            (Some("-e"), None) => Source::Text(words.next().ok_or_else(|| format!("'-e' needs CODE; {USAGE}"))?),
            (Some(option), None) if option.starts_with('-') => {
                return Err(format!("there is no option '{}'; {USAGE}", option.escape_debug()));
            }
            (Some(file), None) => Source::File(file.into()),
            (None, None) => return Err(USAGE.into()),
        };
        let mut arguments: Vec<String> = words.collect();
        // A word that was in quotes can't be told from one that was not.
        let is_operator = |word: &&String| OPERATORS.contains(&word.as_str()) || word.starts_with(['>', '<']) || word.starts_with("2>");
        if let Some(operator) = arguments.iter().find(is_operator) {
            return Err(format!("'{}' means nothing here, there is no shell; {USAGE}", operator.escape_debug()));
        }
        if arguments.first().is_some_and(|argument| argument == "--") {
            arguments.remove(0);
        }
        Ok(Self { script, arguments })
    }
}

/// The words of a command, and its here-document.
fn words(command: &str) -> Result<(Vec<String>, Option<String>), String> {
    let command = command.trim();
    let (first, rest) = command.split_once('\n').unwrap_or((command, ""));
    // A first line whose quotes are closed is all of a command but for a here-document.
    let Some(mut words) = shlex::split(first.trim_end()) else {
        let words = shlex::split(command).ok_or_else(|| format!("a quote is not closed; {USAGE}"))?;
        return Ok((words, None));
    };
    let Some(end) = take_end(&mut words) else {
        return if rest.trim().is_empty() { Ok((words, None)) } else { Err(format!("there is more than one line; {USAGE}")) };
    };
    let lines = rest.split_inclusive('\n');
    let is_end = |line: &&str| line.trim_end_matches(['\r', '\n']) == end;
    let document: String = lines.clone().take_while(|line| !is_end(line)).collect();
    match rest[document.len()..].split_once('\n').unwrap_or((&rest[document.len()..], "")) {
        ("", _) => Err(format!("the here-document has no end '{}'", end.escape_debug())),
        (_, behind) if !behind.trim().is_empty() => Err(format!("there is something behind the here-document; {USAGE}")),
        _ => Ok((words, Some(document))),
    }
}

/// The word that ends a here-document: `<<END`, or `<< END`.
fn take_end(words: &mut Vec<String>) -> Option<String> {
    let position = words.iter().position(|word| word.starts_with("<<"))?;
    let end = words.remove(position).split_off(2);
    if end.is_empty() { (position < words.len()).then(|| words.remove(position)) } else { Some(end) }
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
    fn what_is_no_command_is_named() {
        let usage = super::USAGE;
        for (command, message) in [
            ("", usage.to_owned()),
            ("luau", usage.to_owned()),
            ("ls -la", format!("there is no command 'ls'; {usage}")),
            ("luau -x", format!("there is no option '-x'; {usage}")),
            ("luau -e", format!("'-e' needs CODE; {usage}")),
            ("luau 'a", format!("a quote is not closed; {usage}")),
            ("luau a | sort", format!("'|' means nothing here, there is no shell; {usage}")),
            ("luau a >out.txt", format!("'>out.txt' means nothing here, there is no shell; {usage}")),
            ("luau a\nluau b", format!("there is more than one line; {usage}")),
            ("luau -", format!("'-' needs a here-document; {usage}")),
            ("luau - <<END\nx\nEND\nluau b", format!("there is something behind the here-document; {usage}")),
            ("luau a <<END\nx\nEND", format!("a here-document is for 'luau -'; {usage}")),
            ("luau - <<END\nx", "the here-document has no end 'END'".to_owned()),
        ] {
            assert_eq!(Command::parse(command).unwrap_err(), message);
        }
    }
}
