// The C bindings of the contract in `wit/`, which the build generates. All of their names start with `guest_`, `toolscript_` or `wasi_`.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C"
{
#include "guest.h"
}

// Borrows bytes for a call to the host.
inline guest_list_u8_t borrow_bytes(const char* bytes, size_t size)
{
    return {reinterpret_cast<uint8_t*>(const_cast<char*>(bytes)), size};
}

// Borrows UTF-8 text for a call to the host.
inline guest_string_t borrow_string(const char* text, size_t size)
{
    return {reinterpret_cast<uint8_t*>(const_cast<char*>(text)), size};
}
