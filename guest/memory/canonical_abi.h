// The memory that the host allocates in the guest to pass data in.
#pragma once

#include <stddef.h>

// Makes the next byte list or string from the host use this buffer, if it fits. Null restores the default, a new block.
void set_receive_buffer(char* buffer, size_t size);

// The allocation function of the canonical ABI.
extern "C" void* cabi_realloc(void* block, size_t old_size, size_t alignment, size_t new_size);
