//! The functions and globals of a script, for its check.

use super::{contract::CheckRequest, words::ScriptWords};
use crate::engine::{bridge::FunctionProvider, script::Script};

/// The globals and members of libraries that scripts without files do not have.
const FILE_FUNCTIONS: &str = "io\nfile\nrequire\nos.remove\nos.rename\n";

/// What a script can use: its functions with their types, and files.
///
/// The default is a script without functions, and with files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Definitions {
    /// Luau type definitions of `sdk`, and of the functions in it whose types are known.
    types: String,
    /// The full names of all functions, one per line.
    functions: String,
    /// Other names of parameters: the other name, a tab, and the name, per line.
    aliases: String,
    has_io: bool,
}

impl Default for Definitions {
    fn default() -> Self {
        Self { types: String::new(), functions: String::new(), aliases: String::new(), has_io: true }
    }
}

impl Definitions {
    /// Creates definitions of functions of which only the names are known. `source.*` stands for all functions whose names begin with
    /// `source.`, and `=name` for another name of a function that messages do not suggest.
    #[must_use]
    pub fn of_names(names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self { types: "declare sdk: any\n".into(), ..Self::default() }.with_names(names)
    }

    /// Creates definitions from Luau type definitions that declare `sdk`, such as those that `toolscript types` writes, and the names of all
    /// functions.
    #[must_use]
    pub fn with_types(types: impl Into<String>, names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self { types: types.into(), ..Self::default() }.with_names(names)
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

    fn with_names(mut self, names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        for name in names {
            self.functions.push_str(name.as_ref());
            self.functions.push('\n');
        }
        self
    }

    /// Adds other names of parameters, each with the name in the definitions.
    #[must_use]
    pub fn with_aliases<'a>(mut self, aliases: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        for (alias, name) in aliases {
            self.aliases.extend([alias, "\t", name, "\n"]);
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
            functions: self.functions.clone(),
            aliases: self.aliases.clone(),
            absent,
        }
    }
}
