//! Reads any text as `toolscript.toml`. An error is one line.

pub fn run(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Err(error) = toolscript::fuzzing::read_configuration(text) {
        assert!(!error.chars().any(char::is_control), "the error has line breaks or other control characters: {error:?}");
        assert!(error.len() < 1000 + text.len(), "the error is too long: {error:?}");
        assert!(error.starts_with("configuration /etc/toolscript/toolscript.toml: "), "{error:?}");
    }
}
