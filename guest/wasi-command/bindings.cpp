// Replaces the functions of the generated bindings that the command needs. It is its own host and links no bindings.
#include "lib/sdk/sdk.h"
#include "wasi-command/error.h"

#include <stdlib.h>

extern "C"
{

    void guest_list_u8_free(guest_list_u8_t* list)
    {
        free(list->ptr);
    }

    void guest_list_string_free(guest_list_string_t* list)
    {
        for (size_t index = 0; index < list->len; index++)
            delete[] list->ptr[index].ptr;
        delete[] list->ptr;
    }

    // The texts are static: see `error.cpp`.
    void toolscript_sandbox_io_error_free(Error*) {}

} // extern "C"

// The command has no function providers.
void sdk_open_library(lua_State*) {}
void sdk_configure(lua_State*, const uint64_t*) {}
