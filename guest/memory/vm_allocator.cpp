#include "memory/vm_allocator.h"
#include "memory/collector.h"
#include "runtime/work.h"

#include "ldo.h"

#include <stdlib.h>

void* vm_allocate(void* userdata, void* block, size_t old_size, size_t new_size)
{
    if (new_size == 0)
    {
        free(block);
        return nullptr;
    }
    global_State* g = static_cast<global_State*>(userdata);
    if (!g || new_size <= old_size)
        return realloc(block, new_size);
    collector_update(g);
    count_work(new_size - old_size);
    void* result = realloc(block, new_size);
    if (!result)
        collector_handle_exhaustion(g);
    return result;
}

void* allocate_block(lua_State* L, size_t size)
{
    collect_to_fit(L, size);
    void* block = malloc(size);
    if (!block)
        luaD_throw(L, LUA_ERRMEM);
    return block;
}
