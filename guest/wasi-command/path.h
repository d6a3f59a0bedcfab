// The rules for paths, the same as the host's (`host/files/path.rs`). A path that breaks one never reaches WASI.
#pragma once

#include "wasi-command/error.h"

constexpr size_t kMaxPath = 4096;

// A path that keeps to the rules. Two spellings of one path have the same name.
struct FilePath
{
    size_t size = 0;
    bool is_folder = true; // written as only a folder is: with a slash or a dot at its end
    char name[kMaxPath];   // components, joined by single slashes; empty for the io dir itself

    // As messages and reports show it.
    std::string_view shown() const
    {
        return size ? std::string_view(name, size) : ".";
    }

    // The folders on the way, and the file's own name.
    std::string_view folders() const;
    std::string_view last() const;
};

// Checks the bytes that a script gave.
bool path_parse(std::string_view bytes, FilePath* path, Error* error);
// Takes the first component off the text.
std::string_view path_next(std::string_view* rest);
// Whether a name is not for files of scripts, in any case: some file systems take no notice of it.
bool path_is_reserved(std::string_view name);
