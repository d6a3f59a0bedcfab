//! Names that no path may contain and that no listing shows.
//!
//! Names are compared without regard to case, in any alphabet, because some file systems ignore case.

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
    is_same_name(name, TEMPORARY)
}

/// Returns the error message for a path with this component, or `None` if the name is not reserved.
pub fn error_message(name: &str) -> Option<&'static str> {
    if is_temporary(name) {
        Some("path cannot contain '.toolscript-tmp', a reserved name")
    } else if is_same_name(name, CONFIGURATION) {
        Some("path cannot contain 'toolscript.toml', a reserved name")
    } else {
        None
    }
}

fn is_same_name(name: &str, reserved: &str) -> bool {
    name.chars().flat_map(char::to_uppercase).eq(reserved.chars().flat_map(char::to_uppercase))
}
