// A heap block and the lists of free blocks. Included by `heap.cpp` only: the internal linkage lets the compiler inline everything into `malloc`.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace
{

constexpr uint32_t kFreeBit = 1;

// The header of a block. In a free block, the links of its list follow the header.
struct Block
{
    uint32_t previous_size; // size of the whole block below this one, 0 if there is none
    uint32_t size_and_free; // size of the whole block, a multiple of 16; bit 0 is set if the block is free
    Block* next;
    Block* previous;

    size_t size() const
    {
        return size_and_free & ~kFreeBit;
    }

    bool is_free() const
    {
        return size_and_free & kFreeBit;
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

// Free blocks by size, with eight lists for each power of two. There is one heap, so all members are static.
class FreeLists
{
public:
    static void insert(Block* block)
    {
        int list = index_of(block->size());
        block->size_and_free |= kFreeBit;
        block->next = lists[list];
        block->previous = nullptr;
        if (block->next)
            block->next->previous = block;
        lists[list] = block;
        occupied[list / 32] |= 1u << list % 32;
    }

    static void remove(Block* block)
    {
        int list = index_of(block->size());
        block->size_and_free &= ~kFreeBit;
        if (block->next)
            block->next->previous = block->previous;
        if (block->previous)
            block->previous->next = block->next;
        else if (!(lists[list] = block->next))
            occupied[list / 32] &= ~(1u << list % 32);
    }

    // Removes and returns a block of at least `size`, or null. Checks only the first blocks of the list for `size`, whose blocks may be too
    // small. Every block of a later list fits.
    static Block* take(size_t size)
    {
        constexpr int kMaxTries = 8;
        int list = index_of(size);
        if (Block* block = take_first_fit(list, size, kMaxTries))
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
        return nullptr;
    }

    // The same, but checks all blocks of the list for `size` and no others.
    static Block* take_exhaustively(size_t size)
    {
        return take_first_fit(index_of(size), size, INT32_MAX);
    }

private:
    static constexpr int kListsPerPower = 8;
    static constexpr int kLists = 28 * kListsPerPower;

    static inline Block* lists[kLists];
    static inline uint32_t occupied[kLists / 32]; // one bit per list

    static int index_of(size_t size)
    {
        int power = 31 - __builtin_clz(uint32_t(size));
        int step = int(size >> (power - 3)) & (kListsPerPower - 1);
        return (power - 4) * kListsPerPower + step;
    }

    static Block* take_first_fit(int list, size_t size, int max_tries)
    {
        for (Block* block = lists[list]; block && max_tries > 0; block = block->next, max_tries--)
            if (block->size() >= size)
            {
                remove(block);
                return block;
            }
        return nullptr;
    }
};

} // namespace
