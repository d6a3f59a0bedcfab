// The default allocator for wasm rounds sizes up to powers of two and never joins free blocks: a script with 40 MiB of 16 KiB strings would
// need 100 MiB. This allocator keeps free blocks in lists by size, splits them, joins neighbours and grows blocks in place. Blocks lie side by
// side from the end of the static data to the end of the memory. Nothing else grows the memory.
#include "memory/heap.h"
#include "memory/block.h"

#include <string.h>

extern "C" unsigned char __heap_base;

namespace
{

constexpr size_t kAlignment = 16;
constexpr size_t kPage = 65536;
constexpr size_t kMinGrowth = 2; // pages, so that a small run grows the memory only once or twice
constexpr size_t kHeader = offsetof(Block, next);
constexpr size_t kMinBlock = 32;

Block* last = nullptr;  // the block that ends at the end of the heap
uintptr_t heap_end = 0; // 0 before the first allocation
bool growth_was_denied = false;

void set_size(Block* block, size_t size)
{
    block->size_and_free = uint32_t(size);
    if (uintptr_t(block->above()) < heap_end)
        block->above()->previous_size = uint32_t(size);
}

// Frees the part of the block beyond `size`. The block is in no list.
void trim(Block* block, size_t size)
{
    size_t rest = block->size() - size;
    if (rest < kMinBlock)
        return;
    Block* upper = reinterpret_cast<Block*>(uintptr_t(block) + size);
    upper->previous_size = uint32_t(size);
    block->size_and_free = uint32_t(size);
    if (last == block)
        last = upper;
    set_size(upper, rest);
    Block* above = upper->above();
    if (uintptr_t(above) < heap_end && above->is_free())
    {
        FreeLists::remove(above);
        if (last == above)
            last = upper;
        set_size(upper, rest + above->size());
    }
    FreeLists::insert(upper);
}

// Returns a block of at least `size` at the end of the memory, in no list. Returns null if the host denies memory.
Block* grow(size_t size)
{
    if (heap_end == 0)
    {
        // Aligns the contents of the first block, not its header.
        uintptr_t start = (uintptr_t(&__heap_base) + kHeader + kAlignment - 1) / kAlignment * kAlignment - kHeader;
        heap_end = start;
    }
    uintptr_t memory_end = __builtin_wasm_memory_size(0) * kPage;
    size_t have = (last && last->is_free() ? last->size() : 0);
    // Bytes between the end of the heap and the end of the memory: the initial memory at the first call, an unaligned remainder later.
    size_t beyond = memory_end > heap_end ? (memory_end - heap_end) / kAlignment * kAlignment : 0;
    if (have + beyond < size)
    {
        size_t pages = (size - have - beyond + kPage - 1) / kPage;
        size_t wanted = pages < kMinGrowth ? kMinGrowth : pages;
        if (__builtin_wasm_memory_grow(0, wanted) == SIZE_MAX)
        {
            if (wanted == pages || __builtin_wasm_memory_grow(0, pages) == SIZE_MAX)
            {
                growth_was_denied = true;
                return nullptr;
            }
            wanted = pages;
        }
        beyond += wanted * kPage;
    }
    Block* block = last;
    if (have)
        FreeLists::remove(block);
    else
    {
        block = reinterpret_cast<Block*>(heap_end);
        block->previous_size = last ? uint32_t(last->size()) : 0;
    }
    heap_end += beyond;
    last = block;
    set_size(block, have + beyond);
    return block;
}

// Returns a block of at least `size`, in no list, or null.
Block* take_block(size_t size)
{
    if (Block* block = FreeLists::take(size))
        return block;
    if (Block* block = grow(size))
        return block;
    return FreeLists::take_exhaustively(size);
}

Block* block_of(void* contents)
{
    return reinterpret_cast<Block*>(uintptr_t(contents) - kHeader);
}

void* contents_of(Block* block)
{
    return reinterpret_cast<void*>(uintptr_t(block) + kHeader);
}

// Returns the size of a block for this many bytes of contents, or 0 if it exceeds the address space.
size_t block_size(size_t size)
{
    if (size > SIZE_MAX / 2)
        return 0;
    size_t whole = (size + kHeader + kAlignment - 1) / kAlignment * kAlignment;
    return whole < kMinBlock ? kMinBlock : whole;
}

} // namespace

bool heap_growth_was_denied()
{
    return growth_was_denied;
}

extern "C" void* malloc(size_t size)
{
    size_t whole = block_size(size);
    Block* block = whole ? take_block(whole) : nullptr;
    if (!block)
        return nullptr;
    trim(block, whole);
    return contents_of(block);
}

extern "C" void free(void* contents)
{
    if (!contents)
        return;
    Block* block = block_of(contents);
    Block* above = block->above();
    if (uintptr_t(above) < heap_end && above->is_free())
    {
        FreeLists::remove(above);
        if (last == above)
            last = block;
        set_size(block, block->size() + above->size());
    }
    Block* below = block->below();
    if (below && below->is_free())
    {
        FreeLists::remove(below);
        if (last == block)
            last = below;
        set_size(below, below->size() + block->size());
        block = below;
    }
    FreeLists::insert(block);
}

extern "C" void* realloc(void* contents, size_t size)
{
    if (!contents)
        return malloc(size);
    Block* block = block_of(contents);
    size_t whole = block_size(size);
    if (!whole)
        return nullptr;
    size_t old = block->size();
    if (whole > old)
    {
        Block* above = block->above();
        bool joins = uintptr_t(above) < heap_end && above->is_free();
        size_t reach = old + (joins ? above->size() : 0);
        // The last block grows together with the memory.
        if (reach < whole && (block == last || (joins && above == last)))
        {
            Block* more = grow(whole - old);
            if (more)
            {
                set_size(block, old + more->size());
                last = block;
                trim(block, whole);
                return contents;
            }
        }
        else if (reach >= whole)
        {
            FreeLists::remove(above);
            if (last == above)
                last = block;
            set_size(block, reach);
        }
    }
    if (whole <= block->size())
    {
        trim(block, whole);
        return contents;
    }
    void* moved = malloc(size);
    if (!moved)
        return nullptr;
    memcpy(moved, contents, old - kHeader);
    free(contents);
    return moved;
}

extern "C" void* calloc(size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        return nullptr;
    void* contents = malloc(total);
    return contents ? memset(contents, 0, total) : nullptr;
}

extern "C" void* aligned_alloc(size_t alignment, size_t size)
{
    return alignment <= kAlignment ? malloc(size) : nullptr;
}
