//! Executes the commands in README, CONTRIBUTING and docs, and checks that the pages are complete and their links valid. The commands in
//! the pages of the examples need other programs, so the checks in `tests/embedding/` and `packages/` execute them.
//!
//! Each page has a temporary directory that contains `examples/shop.yaml` and its server. A block whose first line is a comment with a file
//! name (`-- totals.luau`, `# toolscript.toml`) becomes that file. Each `sh` block is executed there, and its output, with that on
//! standard error, must equal the `text` or `json` block that follows. An HTML comment directly before the block selects something else:
//!
//! - `<!-- run: server -->`: a server, which must print the following block on standard error and is then stopped.
//! - `<!-- run: background -->`: a program that must print the following block, and is stopped at the end of the page.
//! - `<!-- run: elsewhere: PATH -->`: not executed here, but by the file at PATH.
//!
//! `UPDATE_FIXTURES=1 cargo test documentation` writes the outputs into the pages.

use crate::support::kill_on_drop::KillOnDrop;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader},
    ops::Range,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tempfile::TempDir;

/// Pages beside those in `docs/`.
const TOP_PAGES: [&str; 4] = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];

/// Directories whose files pages refer to in backticks.
const SOURCES: [&str; 12] =
    [".ci/", ".github/", "benches/", "docs/", "examples/", "fuzz/", "guest/", "host/", "packages/", "scripts/", "tests/", "wit/"];

/// Extensions of the source files of an example that its page refers to by name.
const EXAMPLE_SOURCES: [&str; 6] = ["css", "html", "js", "luau", "mjs", "py"];

/// The port of the example server in the pages.
const SHOP_PORT: &str = "8765";

struct Page {
    /// The path from the root of the repository.
    name: String,
    text: String,
    blocks: Vec<Block>,
    links: Vec<String>,
    /// Texts in backticks.
    codes: Vec<String>,
    anchors: BTreeSet<String>,
}

/// A fenced block.
struct Block {
    language: String,
    text: String,
    /// The position of the text in the page, and of the text with its fences.
    range: Range<usize>,
    fenced: Range<usize>,
    /// The contents of an HTML comment directly before the block.
    comment: Option<String>,
}

impl Page {
    fn read(name: &str) -> Self {
        let text = fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut page = Self {
            name: name.into(),
            blocks: Vec::new(),
            links: Vec::new(),
            codes: Vec::new(),
            anchors: BTreeSet::new(),
            text: text.clone(),
        };
        let mut comment = None;
        let mut block: Option<Block> = None;
        let mut heading: Option<String> = None;
        for (event, range) in Parser::new_ext(&text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Html(html) => {
                    let contents = html.trim().strip_prefix("<!--").and_then(|html| html.strip_suffix("-->"));
                    comment = contents.map(|contents| contents.trim().to_owned());
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                    let (language, start) = (language.into_string(), range.start);
                    block = Some(Block { language, text: String::new(), range: start..start, fenced: range, comment: comment.take() });
                }
                Event::End(TagEnd::CodeBlock) => page.blocks.extend(block.take()),
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => page.anchors.extend(heading.take().map(|heading| anchor(&heading))),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => page.links.push(dest_url.into_string()),
                Event::Start(Tag::Paragraph) => comment = None,
                Event::Text(part) | Event::Code(part) if heading.is_some() => heading.iter_mut().for_each(|text| text.push_str(&part)),
                Event::Text(part) => {
                    if let Some(block) = &mut block {
                        let start = if block.text.is_empty() { range.start } else { block.range.start };
                        block.range = start..range.end;
                        block.text.push_str(&part);
                    }
                }
                Event::Code(code) => page.codes.push(code.into_string()),
                _ => {}
            }
        }
        page
    }

    fn all() -> Vec<Self> {
        let docs = fs::read_dir(root().join("docs")).expect("the directory docs");
        let docs = docs.map(|entry| format!("docs/{}", entry.expect("an entry").file_name().to_string_lossy()));
        let docs = docs.filter(|name| name.ends_with(".md"));
        TOP_PAGES.into_iter().map(String::from).chain(docs).map(|name| Self::read(&name)).collect()
    }

    /// Reads the pages of the examples.
    fn examples() -> Vec<Self> {
        let examples = fs::read_dir(root().join("examples")).expect("the directory examples");
        let pages = examples.map(|entry| format!("examples/{}/README.md", entry.expect("an entry").file_name().to_string_lossy()));
        pages.filter(|name| root().join(name).exists()).map(|name| Self::read(&name)).collect()
    }

    /// Executes the commands in order. Returns the outputs that differ from the page, with their positions.
    fn run(&self) -> Vec<(Range<usize>, String)> {
        let directory = TempDir::new().expect("a temporary directory");
        fs::create_dir(directory.path().join("examples")).expect("a directory");
        for file in ["examples/shop.yaml", "examples/shop_server.py"] {
            fs::copy(root().join(file), directory.path().join(file)).expect("a copy of the example");
        }
        // The server of the page has a free port here.
        let port = free_port();
        let mut background = Vec::new();
        let mut differences = Vec::new();
        for (index, block) in self.blocks.iter().enumerate() {
            if let Some(name) = block.file_name() {
                fs::write(directory.path().join(name), block.text.replace(SHOP_PORT, &port)).expect("a file of the page");
            }
            if block.language != "sh" {
                continue;
            }
            let comment = block.comment.as_deref().unwrap_or_default();
            if let Some(path) = comment.strip_prefix("run: elsewhere: ") {
                assert!(root().join(path).is_file(), "{}: {path}, which executes this block, does not exist:\n{}", self.name, block.text);
                continue;
            }
            let expected = self.blocks.get(index + 1).filter(|next| {
                let between = &self.text[block.fenced.end..next.fenced.start];
                between.trim().is_empty() && matches!(next.language.as_str(), "text" | "json")
            });
            let expected = expected.unwrap_or_else(|| panic!("{}: a block without output or marker:\n{}", self.name, block.text));
            let actual = match comment {
                "run: server" => first_line_of_server(directory.path(), &block.text),
                "run: background" => {
                    let command = block.text.trim_end().trim_end_matches('&').trim_end();
                    let (program, line) = start_in_background(directory.path(), &format!("{command} {port}"));
                    background.push(program);
                    line.replace(&port, SHOP_PORT)
                }
                "" => output_of(directory.path(), &block.text),
                other => panic!("{}: unknown marker: {other}", self.name),
            };
            if actual != expected.text {
                differences.push((expected.range.clone(), actual));
            }
        }
        differences
    }
}

impl Block {
    /// The name of the file that this block shows.
    fn file_name(&self) -> Option<&str> {
        let first = self.text.lines().next()?;
        let name = match self.language.as_str() {
            "luau" => first.strip_prefix("-- ")?,
            "toml" => first.strip_prefix("# ")?,
            _ => return None,
        };
        name.strip_suffix(&format!(".{}", self.language)).filter(|stem| !stem.contains(' ')).map(|_| name)
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn has_only_path_characters(text: &str) -> bool {
    text.chars().all(|character| character.is_ascii_alphanumeric() || "._/-".contains(character))
}

/// Collects the files in a directory, except installed and generated ones.
fn collect_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if !path.is_dir() {
            files.push(path);
        } else if !["node_modules", "dist", "__pycache__"].iter().any(|generated| path.ends_with(generated)) {
            collect_files(&path, files);
        }
    }
}

/// Returns the anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|character| character.is_alphanumeric() || matches!(character, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Prepares a shell command with `toolscript` in its `PATH`.
fn shell(directory: &Path, command: &str) -> Command {
    let programs = Path::new(env!("CARGO_BIN_EXE_toolscript")).parent().expect("a directory");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("a PATH"));
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(directory).env("PATH", path).stdin(Stdio::null());
    shell
}

/// Runs a command, and returns what it writes to standard output and standard error. `cargo run` becomes the program that is built
/// already, in the repository.
fn output_of(directory: &Path, command: &str) -> String {
    let output = match command.strip_prefix("cargo run --release -- ") {
        Some(arguments) => shell(root(), &format!("exec 2>&1; toolscript {arguments}")).output(),
        None => shell(directory, &format!("exec 2>&1; {command}")).output(),
    };
    String::from_utf8(output.expect("the output of a command").stdout).expect("UTF-8")
}

/// Returns a port that no program listens on.
fn free_port() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port().to_string()
}

/// Starts a program, and waits for its first line.
fn start_in_background(directory: &Path, command: &str) -> (KillOnDrop, String) {
    let mut shell = shell(directory, &format!("exec {command}"));
    let mut program = KillOnDrop(shell.stdout(Stdio::piped()).spawn().expect("a program"));
    let mut line = String::new();
    BufReader::new(program.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    (program, line)
}

/// Starts a server on a free port, and stops it after its first line, which then has the default port.
fn first_line_of_server(directory: &Path, command: &str) -> String {
    let mut shell = shell(directory, &format!("exec {command}"));
    let mut server = shell.env("TOOLSCRIPT_LISTEN", "127.0.0.1:0").stderr(Stdio::piped()).spawn().expect("a server");
    let mut line = String::new();
    let read = BufReader::new(server.stderr.take().expect("a pipe")).read_line(&mut line);
    server.kill().and_then(|()| server.wait()).expect("the end of the server");
    read.expect("a line");
    match line.split_once("127.0.0.1:") {
        Some((before, after)) => format!("{before}127.0.0.1:8080{}", after.trim_start_matches(|digit: char| digit.is_ascii_digit())),
        None => line,
    }
}

#[test]
fn commands_print_what_the_pages_show() {
    let mut failures = Vec::new();
    for mut page in Page::all() {
        for (range, actual) in page.run().into_iter().rev() {
            failures.push(format!("{}\nexpected: {}\nactual: {actual}", page.name, &page.text[range.clone()]));
            page.text.replace_range(range, &actual);
        }
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            fs::write(root().join(&page.name), &page.text).expect("the page");
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn links_and_paths_in_the_pages_exist() {
    let mut missing = Vec::new();
    for page in Page::all().into_iter().chain(Page::examples()) {
        let directory = Path::new(&page.name).parent().expect("a directory");
        for link in page.links.iter().filter(|link| !link.contains("://")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { PathBuf::from(&page.name) } else { directory.join(path) };
            let exists = root().join(&target).exists();
            if !exists || (!anchor.is_empty() && !Page::read(&target.to_string_lossy()).anchors.contains(anchor)) {
                missing.push(format!("{}: the link {link}", page.name));
            }
        }
        let is_path = |code: &&String| SOURCES.iter().any(|source| code.starts_with(source)) && has_only_path_characters(code);
        let paths = page.codes.iter().filter(is_path).filter(|path| !root().join(path).exists());
        missing.extend(paths.map(|path| format!("{}: the path {path}", page.name)));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn the_pages_of_the_examples_name_their_source_files() {
    let pages = Page::examples();
    assert_eq!(pages.len(), 4);
    let is_source = |path: &Path| path.extension().is_some_and(|extension| EXAMPLE_SOURCES.iter().any(|source| extension == *source));
    for page in pages {
        let mut sources = Vec::new();
        collect_files(root().join(&page.name).parent().expect("a directory"), &mut sources);
        sources.retain(|path| is_source(path));
        let named: Vec<&Path> = page.codes.iter().filter(|code| has_only_path_characters(code)).map(Path::new).collect();
        let missing: Vec<_> = named.iter().filter(|name| is_source(name) && !sources.iter().any(|path| path.ends_with(name))).collect();
        assert!(missing.is_empty(), "{}: {missing:?} do not exist", page.name);
        let unnamed: Vec<_> = sources.iter().filter(|path| !named.iter().any(|name| path.ends_with(name))).collect();
        assert!(!sources.is_empty() && unnamed.is_empty(), "{} does not name {unnamed:?}", page.name);
    }
}

#[test]
fn rust_examples_are_tested() {
    let without_space = |text: &str| text.split_whitespace().collect::<String>();
    let tested = without_space(include_str!("rust_examples.rs"));
    for page in Page::all() {
        for block in page.blocks.iter().filter(|block| block.language == "rust") {
            assert!(tested.contains(&without_space(&block.text)), "{}: not in tests/cli/rust_examples.rs:\n{}", page.name, block.text);
        }
    }
}

#[test]
fn every_global_is_documented() {
    let script = r#"
        local function list(prefix, value)
            if type(value) ~= "table" or prefix == "_G" then return print(prefix) end
            for key, member in value do list(prefix .. "." .. tostring(key), member) end
        end
        for name, value in getmetatable(getfenv()).__index do list(name, value) end"#;
    let directory = TempDir::new().expect("a temporary directory");
    let globals = output_of(directory.path(), &format!("toolscript run -e '{script}'"));
    assert!(globals.lines().count() > 150, "{globals}");
    let page = Page::read("docs/scripts.md").text;
    let missing: Vec<&str> = globals.lines().filter(|global| !page.contains(&format!("`{global}"))).collect();
    assert!(missing.is_empty(), "docs/scripts.md lacks {missing:?}");
}

#[test]
fn every_flag_and_key_is_documented() {
    let directory = TempDir::new().expect("a temporary directory");
    let page = Page::read("docs/configuration.md").text;
    let mut names = BTreeSet::new();
    for command in ["run", "serve", "files grep", "files glob", "docs", "types", "component", "init", "install", "completions", "man"] {
        let help = output_of(directory.path(), &format!("toolscript {command} --help"));
        let flags = help.split_whitespace().filter(|word| word.starts_with("--"));
        names.extend(flags.map(|flag| format!("`{}", flag.trim_end_matches([',', ';', ']']))));
    }
    for section in ["limits", "io", "server", "auth", "apis.a", "mcp_servers.a"] {
        // The message lists the keys that exist.
        fs::write(directory.path().join("toolscript.toml"), format!("[{section}]\nnonsense = 1\n")).expect("a configuration");
        let message = output_of(directory.path(), "toolscript files ls");
        let keys: Vec<&str> = message.split('`').skip(1).step_by(2).filter(|key| *key != "nonsense").collect();
        assert!(keys.len() > 3, "{message}");
        names.extend(keys.into_iter().map(|key| format!("`{key}`")));
    }
    let missing: Vec<&String> = names.iter().filter(|name| !page.contains(*name)).collect();
    assert!(missing.is_empty(), "docs/configuration.md lacks {missing:?}");
}

#[test]
fn the_readme_is_short() {
    assert!(Page::read("README.md").text.lines().count() <= 200);
}
