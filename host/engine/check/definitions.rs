//! The functions and globals of a script, for its check.

use super::{contract::CheckRequest, words::ScriptWords};
use crate::engine::{bridge::FunctionProvider, script::Script};
use std::{
    collections::{BTreeSet, HashSet},
    sync::Arc,
};

/// The start of the declaration of `sdk`.
const DECLARATION: &str = "declare sdk: ";

/// The types of functions of which only the names are known.
const UNTYPED: &str = "declare sdk: any\n";

/// The globals and members of libraries that scripts without files do not have.
const FILE_FUNCTIONS: &str = "io\nfile\nrequire\nos.remove\nos.rename\n";

/// The functions of a script with their types, and whether it has files.
///
/// The default is a script without functions, and with files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Definitions {
    /// Luau type definitions of `sdk`, and of the functions in it whose types are known. Each text declares `sdk`.
    types: Vec<String>,
    functions: FunctionNames,
    /// Other names of parameters: the other name, a tab, and the name, per line.
    aliases: String,
    has_io: bool,
}

impl Default for Definitions {
    fn default() -> Self {
        Self { types: Vec::new(), functions: FunctionNames::default(), aliases: String::new(), has_io: true }
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

    fn merge(self, other: &Self) -> Self {
        if other.lines.is_empty() {
            self
        } else {
            Self::of_lines(self.lines.lines().chain(other.lines.lines()).map(str::to_owned).collect())
        }
    }

    fn of_lines(mut lines: Vec<String>) -> Self {
        lines.sort_unstable();
        lines.dedup();
        Self { lines: lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>().into() }
    }
}

impl Definitions {
    /// The size of the types in bytes. With more, a check would take too long, and only names are checked.
    pub(crate) const MAX_TYPES: usize = 256 << 10;

    /// Creates definitions of functions of which only the names are known.
    #[must_use]
    pub fn of_names(names: FunctionNames) -> Self {
        Self { types: vec![UNTYPED.into()], functions: names, ..Self::default() }
    }

    /// Creates definitions from Luau type definitions that declare `sdk`, such as those that `toolscript types` writes, and the names of all
    /// functions.
    #[must_use]
    pub fn with_types(types: impl Into<String>, names: FunctionNames) -> Self {
        Self { types: vec![types.into()], functions: names, ..Self::default() }
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

    /// Adds the functions of other definitions. If both have a member of `sdk` of the same name, it has the type of these definitions.
    ///
    /// Only names are checked if both define a type of the same name, or if the types of both together are too large.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        let (mut merged, other) = (self.with_untyped_members(), other.with_untyped_members());
        merged.types.extend(other.types);
        merged.functions = merged.functions.merge(&other.functions);
        merged.aliases.push_str(&other.aliases);
        merged
    }

    /// Declares each member of `sdk` if only the names of the functions are known, so that it does not get a type of other definitions.
    fn with_untyped_members(mut self) -> Self {
        if self.types == [UNTYPED] {
            let names = self.functions.lines.lines().filter_map(|line| line.split(['.', '=']).next());
            let members: BTreeSet<&str> = names.collect();
            let members: String = members.into_iter().map(|name| format!("    [\"{name}\"]: any,\n")).collect();
            self.types = vec![format!("{DECLARATION}{{\n{members}}}\n")];
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
            definitions: self.joined_types(),
            functions: self.functions.lines.to_string(),
            aliases: self.aliases.clone(),
            absent,
        }
    }

    /// Returns definitions that declare `sdk` once, as the intersection of its declarations. The checker uses the first type of a member.
    fn joined_types(&self) -> String {
        match &self.types[..] {
            [] => String::new(),
            [only] => only.clone(),
            several => intersection(several).filter(|text| text.len() <= Self::MAX_TYPES).unwrap_or_else(|| UNTYPED.into()),
        }
    }
}

/// Joins definitions that each declare `sdk`. Returns `None` if two of them define a type of the same name.
fn intersection(texts: &[String]) -> Option<String> {
    let mut joined = String::new();
    let mut names = HashSet::new();
    for (index, text) in texts.iter().enumerate() {
        for line in text.split_inclusive('\n') {
            let name =
                line.strip_prefix("export ").unwrap_or(line).strip_prefix("type ").and_then(|rest| rest.split([' ', '<', '=']).next());
            if name.is_some_and(|name| !names.insert(name)) {
                return None;
            }
            match line.strip_prefix(DECLARATION) {
                Some(declared) => joined.extend([&format!("type Sdk_{index} = "), declared]),
                None => joined.push_str(line),
            }
        }
        if !joined.ends_with('\n') {
            joined.push('\n');
        }
    }
    let parts: Vec<String> = (0..texts.len()).map(|index| format!("Sdk_{index}")).collect();
    Some(format!("{joined}{DECLARATION}{}\n", parts.join(" & ")))
}
