#include "memory/canonical_abi.h"

#include <stdlib.h>

namespace
{

char* receive_buffer = nullptr;
size_t receive_buffer_size = 0;

// The memory for a list of strings while a `StringListReceiver` exists and the host has not used it.
void* list_reserve = nullptr;
size_t list_reserve_size = 0;
bool can_discard = false;
bool has_discarded = false;

// Takes the strings that are discarded. A file name and an error message are shorter.
char discarded[4096];

} // namespace

void set_receive_buffer(char* buffer, size_t size)
{
    receive_buffer = buffer;
    receive_buffer_size = size;
}

StringListReceiver::StringListReceiver(void* memory, size_t size)
{
    list_reserve = memory;
    list_reserve_size = size;
    can_discard = true;
    has_discarded = false;
}

StringListReceiver::~StringListReceiver()
{
    list_reserve = nullptr;
    can_discard = false;
}

bool StringListReceiver::is_complete() const
{
    return !has_discarded;
}

void free_received_string(void* text)
{
    if (text != discarded)
        free(text);
}

// Traps on failure: the host would take null for an ordinary address.
extern "C" __attribute__((export_name("cabi_realloc"))) void* cabi_realloc(void* block, size_t, size_t alignment, size_t new_size)
{
    if (new_size == 0)
        return reinterpret_cast<void*>(alignment);
    if (receive_buffer && !block && alignment == 1 && new_size <= receive_buffer_size)
    {
        void* result = receive_buffer;
        receive_buffer = nullptr;
        return result;
    }
    if (list_reserve && !block && alignment > 1 && new_size <= list_reserve_size)
    {
        void* result = list_reserve;
        list_reserve = nullptr;
        return result;
    }
    void* result = realloc(block, new_size);
    if (!result && can_discard && !block && alignment == 1 && new_size <= sizeof(discarded))
    {
        has_discarded = true;
        result = discarded;
    }
    if (!result)
        __builtin_trap();
    return result;
}
