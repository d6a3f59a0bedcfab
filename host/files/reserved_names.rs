//! Names that no path may contain and that no listing shows.
//!
//! Names are compared after [folding](fold), because some file systems treat different spellings as the same name.

use std::borrow::Cow;

/// The directory of temporary files, at the top of the io directory.
pub const TEMPORARY: &str = ".toolscript-tmp";

/// The configuration file. It can name commands to start, so a script must neither write it nor read the credentials in it.
const CONFIGURATION: &str = "toolscript.toml";

/// Returns `true` if scripts and file operations must not use the name.
pub fn is_reserved(name: &str) -> bool {
    error_message(name).is_some()
}

/// Returns `true` if the name is that of the directory of temporary files.
pub fn is_temporary(name: &str) -> bool {
    fold(name) == TEMPORARY
}

/// Returns the error message for a path with this component, or `None` if the name is not reserved.
pub fn error_message(name: &str) -> Option<&'static str> {
    match &*fold(name) {
        TEMPORARY => Some("path cannot contain '.toolscript-tmp', a reserved name"),
        CONFIGURATION => Some("path cannot contain 'toolscript.toml', a reserved name"),
        _ => None,
    }
}

/// Returns the form of a name in which all names are equal that a file system may treat as the same name.
///
/// Letter case is ignored in any alphabet. Final dots and spaces are removed, as Windows does. Characters without a width are removed,
/// as HFS+ does.
pub fn fold(name: &str) -> Cow<'_, str> {
    let name = name.trim_end_matches(['.', ' ']);
    // Searches fold each name, and most names are like this.
    if name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return name.into();
    }
    let visible = name.chars().filter(|character| !is_ignorable(*character));
    // Some characters become ASCII only in uppercase, such as U+017F, and some only in lowercase, such as U+212A.
    visible.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

fn is_ignorable(character: char) -> bool {
    matches!(character, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn names_that_a_file_system_may_treat_as_the_same_are_equal() {
        for name in [".ssh", ".SSH", ".\u{17f}sh", ".\u{df}h", ".ssh.", ".ssh . ", ".s\u{200d}sh", "\u{feff}.ssh"] {
            assert_eq!(fold(name), ".ssh", "{name:?}");
        }
        assert_eq!(fold(".hus\u{212a}y"), ".husky");
        assert_eq!(fold(".con\u{fb01}g"), ".config");
        assert_eq!(fold("ssh"), "ssh");
        assert_eq!(fold("..."), "");
    }
}
