// The C library's heap: `malloc` and its family, for the VM, the compiler and the bindings.
//
// Zig's own for wasm rounds sizes up to powers of two and never joins freed blocks: a script with 40 MiB of 16 KiB strings would
// need 100. This one keeps free blocks in lists by size, splits them, joins neighbours, and grows blocks in place. Blocks lie side
// by side from the end of the static data to the end of the memory, which nobody else grows.
#include "runtime/bindings.h"

#include <string.h>

extern "C" unsigned char __heap_base;

namespace
{

constexpr size_t kAlignment = 16;
constexpr size_t kPage = 65536;       // of wasm
constexpr size_t kSmallestGrowth = 2; // pages: a small run asks the host for memory once or twice
constexpr uint32_t kFree = 1;

// In front of each block. Free blocks have their list's links behind it.
struct Block
{
    uint32_t previous_size; // of the whole block below this one, 0 if there is none
    uint32_t size_and_free; // of the whole block, a multiple of 16; bit 0 says that it is free
    Block* next;
    Block* previous;

    size_t size() const
    {
        return size_and_free & ~kFree;
    }

    bool is_free() const
    {
        return size_and_free & kFree;
    }

    Block* above() const
    {
        return reinterpret_cast<Block*>(uintptr_t(this) + size());
    }

    Block* below() const
    {
        return previous_size ? reinterpret_cast<Block*>(uintptr_t(this) - previous_size) : nullptr;
    }
};

constexpr size_t kHeader = offsetof(Block, next);
constexpr size_t kSmallestBlock = 32;

// Lists of free blocks: eight for each power of two.
constexpr int kSteps = 8;
constexpr int kLists = 28 * kSteps;
constexpr int kTries = 8; // blocks of the request's own list that are looked at, before any of the next list's, which all fit

Block* lists[kLists];
uint32_t occupied[kLists / 32];
Block* last = nullptr;  // the block that ends at the heap's end
uintptr_t heap_end = 0; // 0 before the first call
bool denied = false;

int list_of(size_t size)
{
    int power = 31 - __builtin_clz(uint32_t(size));
    int step = int(size >> (power - 3)) & (kSteps - 1);
    return (power - 4) * kSteps + step;
}

void insert(Block* block)
{
    int list = list_of(block->size());
    block->size_and_free |= kFree;
    block->next = lists[list];
    block->previous = nullptr;
    if (block->next)
        block->next->previous = block;
    lists[list] = block;
    occupied[list / 32] |= 1u << list % 32;
}

void remove(Block* block)
{
    int list = list_of(block->size());
    block->size_and_free &= ~kFree;
    if (block->next)
        block->next->previous = block->previous;
    if (block->previous)
        block->previous->next = block->next;
    else if (!(lists[list] = block->next))
        occupied[list / 32] &= ~(1u << list % 32);
}

void set_size(Block* block, size_t size)
{
    block->size_and_free = uint32_t(size);
    if (uintptr_t(block->above()) < heap_end)
        block->above()->previous_size = uint32_t(size);
}

// Gives what is over `size` back. The block is in no list.
void trim(Block* block, size_t size)
{
    size_t rest = block->size() - size;
    if (rest < kSmallestBlock)
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
        remove(above);
        if (last == above)
            last = upper;
        set_size(upper, rest + above->size());
    }
    insert(upper);
}

// Makes a free block of at least `size` at the end of the memory, in no list. Null if the host refuses.
Block* grow(size_t size)
{
    if (heap_end == 0)
    {
        // The first block's contents, not its header, are aligned.
        uintptr_t start = (uintptr_t(&__heap_base) + kHeader + kAlignment - 1) / kAlignment * kAlignment - kHeader;
        heap_end = start;
    }
    uintptr_t memory_end = __builtin_wasm_memory_size(0) * kPage;
    size_t have = (last && last->is_free() ? last->size() : 0);
    // What lies between the heap's end and the memory's is ours at the first call, and the odd bytes of a page later.
    size_t beyond = memory_end > heap_end ? (memory_end - heap_end) / kAlignment * kAlignment : 0;
    if (have + beyond < size)
    {
        size_t pages = (size - have - beyond + kPage - 1) / kPage;
        size_t wanted = pages < kSmallestGrowth ? kSmallestGrowth : pages;
        if (__builtin_wasm_memory_grow(0, wanted) == SIZE_MAX)
        {
            if (wanted == pages || __builtin_wasm_memory_grow(0, pages) == SIZE_MAX)
            {
                denied = true;
                return nullptr;
            }
            wanted = pages;
        }
        beyond += wanted * kPage;
    }
    Block* block = last;
    if (have)
        remove(block);
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

// Looks at so many blocks of a list.
Block* first_fit(int list, size_t size, int tries)
{
    for (Block* block = lists[list]; block && tries > 0; block = block->next, tries--)
        if (block->size() >= size)
        {
            remove(block);
            return block;
        }
    return nullptr;
}

// A free block of at least `size`, in no list.
Block* find(size_t size)
{
    int list = list_of(size);
    if (Block* block = first_fit(list, size, kTries))
        return block;
    int larger = list + 1;
    for (int word = larger / 32; word < kLists / 32; word++)
    {
        uint32_t bits = occupied[word] & (word == larger / 32 ? ~0u << larger % 32 : ~0u);
        if (bits)
        {
            Block* block = lists[word * 32 + __builtin_ctz(bits)];
            remove(block);
            return block;
        }
    }
    if (Block* block = grow(size))
        return block;
    return first_fit(list, size, INT32_MAX);
}

Block* block_of(void* contents)
{
    return reinterpret_cast<Block*>(uintptr_t(contents) - kHeader);
}

void* contents_of(Block* block)
{
    return reinterpret_cast<void*>(uintptr_t(block) + kHeader);
}

// Of the whole block for this many bytes of contents; 0 if no memory could hold it.
size_t block_size(size_t size)
{
    if (size > SIZE_MAX / 2)
        return 0;
    size_t whole = (size + kHeader + kAlignment - 1) / kAlignment * kAlignment;
    return whole < kSmallestBlock ? kSmallestBlock : whole;
}

} // namespace

bool guest_memory_was_denied()
{
    return denied;
}

extern "C" void* malloc(size_t size)
{
    size_t whole = block_size(size);
    Block* block = whole ? find(whole) : nullptr;
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
        remove(above);
        if (last == above)
            last = block;
        set_size(block, block->size() + above->size());
    }
    Block* below = block->below();
    if (below && below->is_free())
    {
        remove(below);
        if (last == block)
            last = below;
        set_size(below, below->size() + block->size());
        block = below;
    }
    insert(block);
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
        // At the end of the memory, the block grows with it.
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
            remove(above);
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
