//! The modes in which a file can be opened.

use wasmtime::component::{ComponentType, Lift};

/// The mode in which a file is opened: `r`, `w` or `a` in Lua, or one of these with `+`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
#[expect(dead_code, reason = "some variants are only constructed by lifting them from the guest")]
pub enum OpenMode {
    /// `r`
    #[component(name = "read")]
    Read,
    /// `w`
    #[component(name = "write")]
    Write,
    /// `a`
    #[component(name = "append")]
    Append,
    /// `r+`
    #[component(name = "read-update")]
    ReadUpdate,
    /// `w+`
    #[component(name = "write-update")]
    WriteUpdate,
    /// `a+`
    #[component(name = "append-update")]
    AppendUpdate,
    /// `r`, for `require`: looks in the directory of modules first.
    #[component(name = "module")]
    Module,
}

impl OpenMode {
    /// Returns `true` if the handle can read.
    pub fn reads(self) -> bool {
        !matches!(self, Self::Write | Self::Append)
    }

    /// Returns `true` if the handle can write.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::Module)
    }

    /// Returns `true` if every write goes to the end of the file.
    pub fn appends(self) -> bool {
        matches!(self, Self::Append | Self::AppendUpdate)
    }

    /// Returns `true` if an existing file loses its contents.
    pub fn truncates(self) -> bool {
        matches!(self, Self::Write | Self::WriteUpdate)
    }

    /// Returns `true` if a missing file is created.
    pub fn creates(self) -> bool {
        self.truncates() || self.appends()
    }
}
