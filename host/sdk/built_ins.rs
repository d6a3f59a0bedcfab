//! Documentation of the built-in functions of scripts: the sections of `docs/scripts.md`, which is the only source.

use super::{
    docs,
    search::{Field, SearchEntry, SearchIndex},
};
use std::sync::OnceLock;

const PAGE: &str = include_str!("../../docs/scripts.md");

/// A built-in function or value.
pub struct BuiltIn {
    /// The name, such as `io.open` or `handle:read`.
    pub name: String,
    /// The first sentence of the description, on one line.
    pub summary: String,
    /// The heading, such as `io.open(path, mode?) → handle`.
    signature: String,
    /// The section as text, with its Luau examples.
    description: String,
}

impl BuiltIn {
    /// Returns the signature and the description.
    pub fn docs(&self) -> String {
        format!("{}\n{}", self.signature, self.description)
    }

    fn search_entry(&self) -> SearchEntry {
        let fields = [(Field::Name, &self.name), (Field::Summary, &self.summary), (Field::Description, &self.description)];
        let fields = fields.map(|(field, text)| (field, text.clone())).to_vec();
        SearchEntry { name: self.name.clone(), fields, actions: Vec::new(), method: None }
    }
}

/// Returns the built-in of a name. A method has the name `handle:read`, whatever comes before the colon.
pub fn find(name: &str) -> Option<&'static BuiltIn> {
    let method = name.split_once(':').map(|(_, method)| format!("handle:{method}"));
    all().0.iter().find(|known| known.name == name || known.name.strip_prefix("sdk.") == Some(name) || Some(&known.name) == method.as_ref())
}

/// Returns the built-ins that match words, best match first.
#[cfg(feature = "mcp")]
pub fn search(query: &str) -> Vec<&'static BuiltIn> {
    let (built_ins, index) = all();
    index.search(query).into_iter().filter_map(|position| built_ins.get(position)).collect()
}

fn all() -> &'static (Vec<BuiltIn>, SearchIndex) {
    static ALL: OnceLock<(Vec<BuiltIn>, SearchIndex)> = OnceLock::new();
    ALL.get_or_init(|| {
        let built_ins = parse(PAGE);
        let index = SearchIndex::new(built_ins.iter().map(BuiltIn::search_entry));
        (built_ins, index)
    })
}

/// Returns the sections whose headings are signatures in backticks.
fn parse(page: &str) -> Vec<BuiltIn> {
    let mut built_ins = Vec::new();
    let mut signatures: Vec<&str> = Vec::new();
    let mut section = String::new();
    let mut fence: Option<&str> = None;
    // A last heading ends the last section.
    for line in page.lines().chain(["# end"]) {
        if let Some(language) = line.strip_prefix("```") {
            if fence.is_some_and(|language| language != "luau") || (fence.is_none() && language != "luau") {
                fence = if fence.is_some() { None } else { Some(language) };
                continue;
            }
            fence = if fence.is_some() { None } else { Some(language) };
        }
        match fence {
            None if line.starts_with('#') => {
                built_ins.extend(signatures.iter().map(|signature| built_in(signature, &section)));
                section.clear();
                let is_signature = line.starts_with("### `");
                signatures = line.split('`').skip(1).step_by(2).filter(|_| is_signature).collect();
            }
            Some(language) if language != "luau" => {}
            _ => {
                section.push_str(line);
                section.push('\n');
            }
        }
    }
    built_ins
}

fn built_in(signature: &str, section: &str) -> BuiltIn {
    let description = without_links(section.trim());
    let name = signature.split(['(', ' ']).next().unwrap_or(signature);
    let sentence = description.split("\n\n").next().unwrap_or_default();
    let sentence = sentence.split_once(". ").map_or(sentence, |(first, _)| first).trim_end_matches('.');
    BuiltIn { name: name.into(), summary: docs::summary(&[sentence]), signature: signature.into(), description }
}

/// Replaces links by their texts, and several empty lines by one.
fn without_links(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        match (open_bracket(&text), after.split_once(')')) {
            (Some(start), Some((_, after))) => {
                text.remove(start);
                rest = after;
            }
            _ => {
                text.push_str("](");
                rest = after;
            }
        }
    }
    text.push_str(rest);
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    text
}

/// Returns the position of the last bracket that is not closed.
fn open_bracket(text: &str) -> Option<usize> {
    let mut closed = 0_usize;
    for (position, character) in text.char_indices().rev() {
        match character {
            ']' => closed += 1,
            '[' if closed == 0 => return Some(position),
            '[' => closed -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(all(test, feature = "mcp"))]
mod tests {
    use super::{all, find, parse, search};
    use std::collections::BTreeSet;

    #[test]
    fn a_built_in_is_a_section_of_the_page() {
        let page = "# Page\n\n### `a.b(x) → y`, `a.c`\n\nDoes [this](x.md#y) to `x`. And [`[that]`](z.md).\n\n```sh\n# a comment\n```\n\n\
                    ```luau\nlocal y = a.b(1)\n```\n\n### Other\n\ntext\n";
        let built_ins = parse(page);
        assert_eq!(built_ins.iter().map(|known| known.name.as_str()).collect::<Vec<_>>(), ["a.b", "a.c"]);
        assert_eq!(built_ins[0].summary, "Does this to `x`");
        assert_eq!(built_ins[0].docs(), "a.b(x) → y\nDoes this to `x`. And `[that]`.\n\n```luau\nlocal y = a.b(1)\n```");
    }

    #[test]
    fn every_built_in_is_found_by_its_name() {
        for built_in in &all().0 {
            assert!(!built_in.summary.is_empty() && !built_in.docs().contains("]("), "{}", built_in.docs());
            assert_eq!(find(&built_in.name).map(|found| &found.name), Some(&built_in.name));
            assert_eq!(search(&built_in.name)[0].name, built_in.name);
        }
        assert!(find("io.open").is_some_and(|found| found.docs().starts_with("io.open(path, mode?) → handle\nOpens a file.")));
        assert_eq!(find("file:read").map(|found| found.name.as_str()), Some("handle:read"));
        assert_eq!(find("all").map(|found| found.name.as_str()), Some("sdk.all"));
        assert!(find("io.popen").is_none());
    }

    /// The type definitions for editors declare the same members as the page.
    #[test]
    fn the_type_definitions_are_complete() {
        let mut declared = BTreeSet::new();
        let mut tables = BTreeSet::new();
        let mut table = String::new();
        for line in include_str!("../../guest/lib/globals.d.luau").lines() {
            if let Some(name) = line.strip_prefix("declare function ").and_then(|rest| rest.split('(').next()) {
                assert!(find(name).is_some(), "docs/scripts.md lacks {name}");
            } else if let Some(name) = line.strip_prefix("declare ").and_then(|rest| rest.strip_suffix(": {")) {
                table = format!("{name}.");
            } else if line.starts_with("export type FileHandle = {") {
                table = "handle:".into();
            } else if line == "}" {
                table.clear();
            } else if table.is_empty() {
                continue;
            } else if let Some((name, _)) = line.strip_prefix("    ").and_then(|member| member.split_once(": ")) {
                declared.insert(format!("{table}{name}"));
                tables.insert(table.clone());
            }
        }
        let is_declared = |name: &&String| tables.iter().any(|table| name.starts_with(table.as_str()));
        let documented: BTreeSet<String> = all().0.iter().map(|known| &known.name).filter(is_declared).cloned().collect();
        assert_eq!(declared, documented);
    }
}
