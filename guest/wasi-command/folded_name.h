// The form of a name in which all names are equal that a file system may treat as the same name.
#pragma once

#include <stddef.h>
#include <string_view>

// Ignores case, final dots and spaces, and characters without a width, as `fold` in `host/files/reserved_names.rs` does.
class FoldedName
{
public:
    explicit FoldedName(std::string_view name);

    // A name that is too long for any path is empty.
    std::string_view text() const
    {
        return {buffer, size};
    }

private:
    // Folding never makes a name longer.
    char buffer[256];
    size_t size = 0;
};
