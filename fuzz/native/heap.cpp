// Random allocations with the heap of the guest. A model checks alignment, overlaps, contents and the structure of the heap.
#include "input.h"

#include <map>
#include <set>
#include <vector>

namespace
{

constexpr size_t kPageSize = 65536;
constexpr size_t kMaxPages = 64;

size_t memory_pages = 0;
size_t granted_pages = 0;

} // namespace

// The linear memory. The heap begins at an address that is not aligned.
extern "C" alignas(65536) unsigned char linear_memory[kMaxPages * kPageSize];
alignas(65536) unsigned char linear_memory[kMaxPages * kPageSize];
asm(".globl __heap_base\n.set __heap_base, linear_memory + 20\n");

static size_t memory_size()
{
    return uintptr_t(linear_memory) / kPageSize + memory_pages;
}

static size_t memory_grow(size_t pages)
{
    if (pages > granted_pages - memory_pages)
        return SIZE_MAX;
    memory_pages += pages;
    return memory_size() - pages;
}

#define __builtin_wasm_memory_size(memory) memory_size()
#define __builtin_wasm_memory_grow(memory, pages) memory_grow(pages)
#define malloc guest_malloc
#define calloc guest_calloc
#define realloc guest_realloc
#define free guest_free
#define aligned_alloc guest_aligned_alloc
// The lists of free blocks are private. They are reset for each input.
#define private public
#include "memory/heap.cpp"
#undef private
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef aligned_alloc

namespace
{

// A block that is in use, filled with a byte.
struct Allocation
{
    unsigned char* contents;
    size_t size;
    unsigned char fill;
};

std::vector<Allocation> allocations;

void reset(Input& input)
{
    last = nullptr;
    heap_end = 0;
    growth_was_denied = false;
    memset(FreeLists::lists, 0, sizeof(FreeLists::lists));
    memset(FreeLists::occupied, 0, sizeof(FreeLists::occupied));
    memory_pages = 1 + input.take<uint8_t>() % 4;
    granted_pages = memory_pages + input.take<uint8_t>() % (kMaxPages - memory_pages + 1);
    allocations.clear();
}

// Small sizes are as likely as large ones.
size_t take_size(Input& input)
{
    uint8_t kind = input.take<uint8_t>();
    size_t value = input.take<uint16_t>();
    switch (kind % 8)
    {
    case 0:
        return value % 64;
    case 1:
    case 2:
    case 3:
        return value % 1024;
    case 4:
    case 5:
        return value;
    case 6:
        return value << 8;
    default:
        // Beyond the address space of the guest, whose sizes have 32 bits.
        return kind & 8 ? SIZE_MAX - value : (value << 15) % (size_t(1) << 30);
    }
}

void check_contents(const Allocation& allocation, size_t size)
{
    for (size_t index = 0; index < size; index++)
        CHECK(allocation.contents[index] == allocation.fill);
}

void check_position(const Allocation& allocation)
{
    uintptr_t start = uintptr_t(allocation.contents);
    CHECK(start % kAlignment == 0);
    CHECK(start >= uintptr_t(&__heap_base));
    CHECK(start + allocation.size <= memory_size() * kPageSize);
}

// Checks that the blocks lie side by side, that the lists contain exactly the free blocks, and that neighbours are joined.
void check_structure()
{
    if (heap_end == 0)
        return;
    std::set<const Block*> listed;
    for (int list = 0; list < FreeLists::kLists; list++)
    {
        CHECK(((FreeLists::occupied[list / 32] >> list % 32) & 1) == (FreeLists::lists[list] != nullptr));
        const Block* previous = nullptr;
        for (const Block* block = FreeLists::lists[list]; block; previous = block, block = block->next)
        {
            CHECK(block->previous == previous);
            CHECK(block->is_free());
            CHECK(FreeLists::index_of(block->size()) == list);
            CHECK(listed.insert(block).second);
        }
    }
    std::map<uintptr_t, const Allocation*> used;
    for (const Allocation& allocation : allocations)
        CHECK(used.emplace(uintptr_t(allocation.contents) - kHeader, &allocation).second);
    uintptr_t at = (uintptr_t(&__heap_base) + kHeader + kAlignment - 1) / kAlignment * kAlignment - kHeader;
    const Block* below = nullptr;
    for (; at < heap_end; at = uintptr_t(below) + below->size())
    {
        const Block* block = reinterpret_cast<const Block*>(at);
        CHECK(block->size() >= kMinBlock && block->size() % kAlignment == 0);
        CHECK(block->previous_size == (below ? below->size() : 0));
        CHECK(block->is_free() == (listed.count(block) == 1));
        CHECK(!(block->is_free() && below && below->is_free()));
        if (!block->is_free())
        {
            CHECK(used.count(at) == 1);
            CHECK(used[at]->size <= block->size() - kHeader);
            used.erase(at);
        }
        below = block;
    }
    CHECK(at == heap_end && below == last);
    CHECK(used.empty());
}

void add(void* contents, size_t size, unsigned char fill)
{
    if (!contents)
        return;
    Allocation allocation = {static_cast<unsigned char*>(contents), size, fill};
    check_position(allocation);
    memset(contents, fill, size);
    allocations.push_back(allocation);
}

void free_at(size_t index)
{
    check_contents(allocations[index], allocations[index].size);
    guest_free(allocations[index].contents);
    allocations[index] = allocations.back();
    allocations.pop_back();
}

void resize(Allocation& allocation, size_t size)
{
    size_t kept = size < allocation.size ? size : allocation.size;
    void* contents = guest_realloc(allocation.contents, size);
    if (!contents)
        return check_contents(allocation, allocation.size);
    allocation.contents = static_cast<unsigned char*>(contents);
    allocation.size = size;
    check_position(allocation);
    check_contents(allocation, kept);
    memset(contents, allocation.fill, size);
}

void step(Input& input, unsigned char fill)
{
    uint8_t operation = input.take<uint8_t>();
    size_t index = allocations.empty() ? 0 : input.take<uint8_t>() % allocations.size();
    size_t size = take_size(input);
    switch (operation % 8)
    {
    case 0:
    case 1:
        return add(guest_malloc(size), size, fill);
    case 2:
    {
        size_t count = 1 + operation / 8 % 4;
        size_t total = size / count * count;
        void* contents = guest_calloc(count, size / count);
        if (contents)
            for (size_t at = 0; at < total; at++)
                CHECK(static_cast<unsigned char*>(contents)[at] == 0);
        return add(contents, total, fill);
    }
    case 3:
        CHECK(!guest_calloc(SIZE_MAX / 2, 3 + size % 8));
        CHECK(!guest_aligned_alloc(32, size));
        guest_free(nullptr);
        return add(guest_aligned_alloc(operation & 8 ? 16 : 4, size), size, fill);
    case 4:
    case 5:
        if (allocations.empty())
            return add(guest_realloc(nullptr, size), size, fill);
        return resize(allocations[index], size);
    default:
        if (!allocations.empty())
            free_at(index);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    Input input(data, size);
    reset(input);
    for (int count = 0; count < 300 && !input.is_at_end(); count++)
    {
        step(input, static_cast<unsigned char>(count + 1));
        check_structure();
    }
    while (!allocations.empty())
        free_at(allocations.size() / 2);
    check_structure();
    // All memory is one free block again.
    CHECK(!last || (last->is_free() && !last->below()));
    return 0;
}
