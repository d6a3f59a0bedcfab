// The rules for paths, the same as in `host/files/path.rs`. A path that violates a rule never reaches WASI.
#pragma once

#include "wasi-command/error.h"

constexpr size_t kMaxPath = 4096;

// A valid path in normal form.
struct FilePath
{
    size_t size = 0;
    bool is_directory = true; // ends with `/` or `.`, as only a directory can
    char name[kMaxPath];      // components joined by single slashes; empty for the io directory

    // The path in messages and in the outcome.
    std::string_view display() const
    {
        return size ? std::string_view(name, size) : ".";
    }

    // The path without its last component, and the last component.
    std::string_view parent() const;
    std::string_view file_name() const;
};

// The kind of access that an operation needs.
enum class Access
{
    read,
    write, // creates, changes, renames or removes a file
};

// Checks and normalizes a path from a script.
bool path_parse(std::string_view bytes, Access access, FilePath* path, Error* error);
// Removes the first component from the text and returns it.
std::string_view next_component(std::string_view* rest);
// Returns true if no listing shows the name.
bool path_is_hidden(std::string_view name);
