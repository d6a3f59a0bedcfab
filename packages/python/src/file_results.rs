//! The results of file operations.

use pyo3::{prelude::*, types::PyBytes};
use std::time::UNIX_EPOCH;
use toolscript::files;

/// Defines `__repr__` with the given fields.
macro_rules! repr {
    ($class:ident: $($field:ident),*) => {
        #[pymethods]
        impl $class {
            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let fields: Vec<String> = vec![$(format!("{}={}", stringify!($field), (&self.$field).into_pyobject(py)?.repr()?)),*];
                Ok(format!("{}({})", stringify!($class), fields.join(", ")))
            }
        }
    };
}

/// Lines of a text file.
#[pyclass(frozen, get_all, module = "toolscript")]
pub struct TextPage {
    /// The lines with their line endings.
    text: String,
    /// The number of the first line, counted from 1.
    first_line: u64,
    /// The number of lines in the page.
    lines: u64,
    /// The number of lines in the file.
    total_lines: u64,
    /// The size of the file.
    bytes: u64,
    /// The limit that ended the page, ``"lines"`` or ``"bytes"``, if the file continues.
    truncated_by: Option<&'static str>,
    /// The page has only the start of its last line.
    line_truncated: bool,
    /// Some bytes are not UTF-8 and were replaced by U+FFFD.
    lossy: bool,
    /// The number of the line after the page, if there is one.
    next_line: Option<u64>,
    /// The lines, each with its number in front, as models read them.
    numbered: String,
}

repr!(TextPage: text, first_line, lines, total_lines, next_line);

/// A file that is not text.
#[pyclass(frozen, get_all, module = "toolscript")]
pub struct BinaryFile {
    /// The contents.
    data: Py<PyBytes>,
    /// The type of an image, such as ``"image/png"``.
    mime_type: Option<&'static str>,
}

#[pymethods]
impl BinaryFile {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("BinaryFile({} bytes, mime_type={})", self.data.as_bytes(py).len(), self.mime_type.into_pyobject(py)?.repr()?))
    }
}

/// A written file.
#[pyclass(frozen, get_all, eq, module = "toolscript")]
#[derive(PartialEq)]
pub struct WriteResult {
    /// The path, relative to the directory of the sandbox.
    name: String,
    /// The number of bytes written.
    bytes: u64,
}

repr!(WriteResult: name, bytes);

/// An edited file.
#[pyclass(frozen, get_all, eq, module = "toolscript")]
#[derive(PartialEq)]
pub struct EditResult {
    /// The path, relative to the directory of the sandbox.
    name: String,
    /// The number of replacements.
    count: u64,
    /// The size of the file after the edit.
    bytes: u64,
}

repr!(EditResult: name, count, bytes);

/// A deleted file or directory.
#[pyclass(frozen, get_all, eq, module = "toolscript")]
#[derive(PartialEq)]
pub struct DeleteResult {
    /// The path, relative to the directory of the sandbox.
    name: String,
    /// The number of deleted files.
    files: u64,
    /// The number of deleted directories.
    directories: u64,
}

repr!(DeleteResult: name, files, directories);

impl From<files::DeleteResult> for DeleteResult {
    fn from(result: files::DeleteResult) -> Self {
        Self { name: result.name, files: result.files, directories: result.directories }
    }
}

/// A file or directory.
#[pyclass(frozen, get_all, eq, module = "toolscript")]
#[derive(PartialEq)]
pub struct FileInfo {
    /// The name: in a listing relative to the listed directory, in a search result to the directory of the sandbox.
    name: String,
    /// ``"file"``, ``"directory"``, ``"symlink"`` or ``"other"``.
    kind: &'static str,
    /// The size of a file, otherwise 0.
    bytes: u64,
    /// The time of the last change in seconds since 1970.
    modified: Option<f64>,
}

repr!(FileInfo: name, kind, bytes);

/// The result of a search by name.
#[pyclass(frozen, get_all, module = "toolscript")]
pub struct GlobResult {
    /// Files and directories, sorted by name.
    entries: Vec<Py<FileInfo>>,
    /// There are more than the limit allows.
    truncated: bool,
    /// The number of entries that can't be read or have an invalid name.
    skipped: u64,
}

repr!(GlobResult: entries, truncated, skipped);

/// A line that matches a search.
#[pyclass(frozen, get_all, eq, module = "toolscript")]
#[derive(PartialEq)]
pub struct GrepMatch {
    /// The path, relative to the directory of the sandbox.
    name: String,
    /// The number of the line, counted from 1.
    line: u64,
    /// The line without its line ending.
    text: String,
    /// The line was truncated to 1 KiB.
    truncated: bool,
    /// The lines before it that do not match, as pairs of a number and a text.
    before: Vec<(u64, String)>,
    /// The lines after it that do not match, as pairs of a number and a text.
    after: Vec<(u64, String)>,
}

repr!(GrepMatch: name, line, text);

/// The result of a search for lines.
#[pyclass(frozen, get_all, module = "toolscript")]
pub struct GrepResult {
    /// The matching lines, grouped by file, in name order.
    matches: Vec<Py<GrepMatch>>,
    /// There are more than the limit allows.
    truncated: bool,
    /// The number of files that were searched.
    files: u64,
    /// The number of binary files, which are not searched.
    binary: u64,
    /// The number of files that can't be read or have lines that are too long.
    skipped: u64,
}

repr!(GrepResult: matches, truncated, files);

/// Converts the contents of a file to a `TextPage` or a `BinaryFile`.
pub fn contents(py: Python<'_>, contents: files::FileContents) -> PyResult<Py<PyAny>> {
    let binary = |bytes: &[u8], mime_type| Ok(Py::new(py, BinaryFile { data: PyBytes::new(py, bytes).unbind(), mime_type })?.into_any());
    match contents {
        files::FileContents::Text(page) => {
            let numbered = page.numbered();
            let page = TextPage {
                text: page.text,
                first_line: page.first_line,
                lines: page.lines,
                total_lines: page.total_lines,
                bytes: page.bytes,
                truncated_by: page.truncated_by.map(files::TruncatedBy::name),
                line_truncated: page.line_truncated,
                lossy: page.lossy,
                next_line: page.next_line,
                numbered,
            };
            Ok(Py::new(py, page)?.into_any())
        }
        files::FileContents::Image { mime_type, bytes } => binary(&bytes, Some(mime_type)),
        files::FileContents::Binary { bytes } => binary(&bytes, None),
        _ => Ok(py.None()),
    }
}

impl From<files::WriteResult> for WriteResult {
    fn from(result: files::WriteResult) -> Self {
        Self { name: result.name, bytes: result.bytes }
    }
}

impl From<files::EditResult> for EditResult {
    fn from(result: files::EditResult) -> Self {
        Self { name: result.name, count: result.count, bytes: result.bytes }
    }
}

impl From<files::FileInfo> for FileInfo {
    fn from(info: files::FileInfo) -> Self {
        let kind = match info.kind {
            files::FileKind::File => "file",
            files::FileKind::Directory => "directory",
            files::FileKind::Symlink => "symlink",
            _ => "other",
        };
        let modified = info.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|time| time.as_secs_f64());
        Self { name: info.name, kind, bytes: info.bytes, modified }
    }
}

/// Converts a listing.
pub fn entries(py: Python<'_>, infos: Vec<files::FileInfo>) -> PyResult<Vec<Py<FileInfo>>> {
    infos.into_iter().map(|info| Py::new(py, FileInfo::from(info))).collect()
}

/// Converts the result of a search by name.
pub fn glob(py: Python<'_>, found: files::GlobResult) -> PyResult<GlobResult> {
    Ok(GlobResult { entries: entries(py, found.entries)?, truncated: found.truncated, skipped: found.skipped })
}

/// Converts the result of a search for lines.
pub fn grep(py: Python<'_>, found: files::GrepResult) -> PyResult<GrepResult> {
    let context = |lines: Vec<files::ContextLine>| lines.into_iter().map(|near| (near.line, near.text)).collect();
    let convert = |found: files::GrepMatch| {
        let (before, after) = (context(found.before), context(found.after));
        Py::new(py, GrepMatch { name: found.name, line: found.line, text: found.text, truncated: found.truncated, before, after })
    };
    Ok(GrepResult {
        matches: found.matches.into_iter().map(convert).collect::<PyResult<_>>()?,
        truncated: found.truncated,
        files: found.files,
        binary: found.binary,
        skipped: found.skipped,
    })
}
