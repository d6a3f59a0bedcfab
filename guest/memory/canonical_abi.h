// The memory that the host allocates in the guest to pass data in.
#pragma once

#include "lua.h"

#include <stddef.h>

// Makes the next byte list or string from the host use this buffer, if it fits. Null restores the default, a new block.
void set_receive_buffer(char* buffer, size_t size);

// Receives one list of strings. The guest cannot report a failed allocation to the host, so memory for the list is reserved in advance, and strings
// without memory are discarded.
class StringListReceiver
{
public:
    // The memory is for a list of at most `size` bytes without its strings. It belongs to the caller.
    StringListReceiver(void* memory, size_t size);
    ~StringListReceiver();
    StringListReceiver(const StringListReceiver&) = delete;
    StringListReceiver& operator=(const StringListReceiver&) = delete;

    // Returns true if no string was discarded.
    bool is_complete() const;
};

// Frees a string of a list that may be incomplete.
void free_received_string(void* text);

// The allocation function of the canonical ABI.
extern "C" void* cabi_realloc(void* block, size_t old_size, size_t alignment, size_t new_size);
