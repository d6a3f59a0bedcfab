// What the bindings to a host would bring along: ends of what passes between it and the guest. Here both sides are one.
#include "wasi-command/error.h"

#include <stdlib.h>

extern "C"
{

    void unprepared_list_u8_free(unprepared_list_u8_t* list)
    {
        free(list->ptr);
    }

    void unprepared_list_string_free(unprepared_list_string_t* list)
    {
        for (size_t index = 0; index < list->len; index++)
            delete[] list->ptr[index].ptr;
        delete[] list->ptr;
    }

    // Their texts are nobody's to free: see `error.cpp`.
    void toolscript_sandbox_io_error_free(Error*) {}

} // extern "C"

// There are no functions of a host's in here.
void guest_open_sdk(lua_State*) {}
void guest_set_sdk(lua_State*, const uint64_t*) {}
