//! The functions and globals of a script, for its check.

use super::{contract::CheckRequest, words::ScriptWords};
use crate::engine::{bridge::FunctionProvider, script::Script};
use std::sync::Arc;

/// The globals and members of libraries that scripts without files do not have.
const FILE_FUNCTIONS: &str = "io\nfile\nrequire\nos.remove\nos.rename\n";

/// The functions of a script with their types, and whether it has files.
///
/// The default is a script without functions, and with files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Definitions {
    /// Luau type definitions of `sdk`, and of the functions in it whose types are known.
    types: String,
    functions: FunctionNames,
    /// Other names of parameters, per line: the function, the other name and the name, with a tab between.
    aliases: String,
    has_io: bool,
}

impl Default for Definitions {
    fn default() -> Self {
        Self { types: String::new(), functions: FunctionNames::default(), aliases: String::new(), has_io: true }
    }
}

/// The names of all functions. Clones share the names.
#[derive(Clone, Debug, Default)]
pub struct FunctionNames {
    /// A line for each name, sorted. A line that ends with `=` has another name of a function, which messages do not suggest, and one that
    /// ends with `.*` stands for all names that begin with it.
    lines: Arc<str>,
}

impl FunctionNames {
    /// Creates a list of full names without `sdk.`, and of other names of the same functions, which messages do not suggest.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>, others: impl IntoIterator<Item = &'a str>) -> Self {
        let others = others.into_iter().map(|name| format!("{name}="));
        Self::of_lines(names.into_iter().map(str::to_owned).chain(others).collect())
    }

    /// Adds functions that are not known: all whose names begin with a prefix and a dot.
    #[must_use]
    pub fn with_unknown<'a>(self, prefixes: impl IntoIterator<Item = &'a str>) -> Self {
        let unknown: Vec<String> = prefixes.into_iter().map(|prefix| format!("{prefix}.*")).collect();
        if unknown.is_empty() { self } else { Self::of_lines(self.lines.lines().map(str::to_owned).chain(unknown).collect()) }
    }

    fn of_lines(mut lines: Vec<String>) -> Self {
        lines.sort_unstable();
        Self { lines: lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>().into() }
    }
}

impl Definitions {
    /// Creates definitions of functions of which only the names are known.
    #[must_use]
    pub fn of_names(names: FunctionNames) -> Self {
        Self { types: "declare sdk: any\n".into(), functions: names, ..Self::default() }
    }

    /// Creates definitions from Luau type definitions that declare `sdk`, such as those that `toolscript types` writes, and the names of all
    /// functions.
    #[must_use]
    pub fn with_types(types: impl Into<String>, names: FunctionNames) -> Self {
        Self { types: types.into(), functions: names, ..Self::default() }
    }

    /// Creates definitions for a script with the functions of a provider. The types are those of the functions that the script mentions.
    #[must_use]
    pub fn for_script(script: &Script, functions: Option<&dyn FunctionProvider>) -> Self {
        Self::for_words(&ScriptWords::new(&script.source), functions)
    }

    pub(super) fn for_words(words: &ScriptWords<'_>, functions: Option<&dyn FunctionProvider>) -> Self {
        let functions = functions.filter(|_| words.mentions("sdk"));
        functions.map(|functions| functions.definitions(words)).unwrap_or_default()
    }

    /// Adds other names of parameters: the full name of the function, the other name, and the name in the definitions.
    #[must_use]
    pub fn with_aliases<'a>(mut self, aliases: impl IntoIterator<Item = [&'a str; 3]>) -> Self {
        for [function, alias, name] in aliases {
            self.aliases.extend([function, "\t", alias, "\t", name, "\n"]);
        }
        self
    }

    /// Sets whether the script has files.
    #[must_use]
    pub fn with_io(mut self, has_io: bool) -> Self {
        self.has_io = has_io;
        self
    }

    pub(super) fn request(&self, script: &Script) -> CheckRequest {
        let mut absent = String::new();
        if !self.has_io {
            absent.push_str(FILE_FUNCTIONS);
        }
        if script.environment.is_none() {
            absent.push_str("env\n");
        }
        CheckRequest {
            script: script.source.clone(),
            definitions: self.types.clone(),
            functions: self.functions.lines.to_string(),
            aliases: self.aliases.clone(),
            absent,
        }
    }
}
