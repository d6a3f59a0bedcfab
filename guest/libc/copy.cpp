// memcpy, memmove, memset and memcmp. Small blocks are copied with loads and stores: the wasm operators for blocks of a variable size are calls of
// the host, which take longer than copying a short string.
//
// All other code is compiled without these operators, so that the compiler calls the functions. See TARGET in guest/build/compile.rs.

#include <stddef.h>
#include <stdint.h>

// The wasm operators, in copy_block.s.
extern "C" void copy_block(void* target, const void* source, size_t size);
extern "C" void fill_block(void* target, int value, size_t size);

namespace
{

// The largest block that is copied here.
constexpr size_t kSmall = 64;

template <typename Word> Word load(const char* source)
{
    Word word;
    __builtin_memcpy(&word, source, sizeof(Word));
    return word;
}

template <typename Word> void store(char* target, Word word)
{
    __builtin_memcpy(target, &word, sizeof(Word));
}

// Copies between `sizeof(Word) * count` and twice as many bytes: the first and the last words, which may overlap. All are loaded before the
// first is stored, because the blocks may overlap, too.
template <typename Word, int count> void copy_ends(char* target, const char* source, size_t size)
{
    Word first[count], last[count];
    size_t end = size - count * sizeof(Word);
    for (int i = 0; i < count; i++)
    {
        first[i] = load<Word>(source + i * sizeof(Word));
        last[i] = load<Word>(source + end + i * sizeof(Word));
    }
    for (int i = 0; i < count; i++)
    {
        store(target + i * sizeof(Word), first[i]);
        store(target + end + i * sizeof(Word), last[i]);
    }
}

void copy_small(char* target, const char* source, size_t size)
{
    if (size >= 32)
        copy_ends<uint64_t, 4>(target, source, size);
    else if (size >= 16)
        copy_ends<uint64_t, 2>(target, source, size);
    else if (size >= 8)
        copy_ends<uint64_t, 1>(target, source, size);
    else if (size >= 4)
        copy_ends<uint32_t, 1>(target, source, size);
    else if (size >= 2)
        copy_ends<uint16_t, 1>(target, source, size);
    else if (size == 1)
        *target = *source;
}

} // namespace

extern "C" void* memmove(void* target, const void* source, size_t size)
{
    if (size <= kSmall)
        copy_small(static_cast<char*>(target), static_cast<const char*>(source), size);
    else
        copy_block(target, source, size);
    return target;
}

extern "C" void* memcpy(void* __restrict target, const void* __restrict source, size_t size)
{
    return memmove(target, source, size);
}

// Compares eight bytes at a time. The function of the library compares single bytes, and every string that a script creates is compared with
// those that exist.
extern "C" int memcmp(const void* left, const void* right, size_t size)
{
    const char* a = static_cast<const char*>(left);
    const char* b = static_cast<const char*>(right);
    for (; size >= 8; size -= 8, a += 8, b += 8)
    {
        uint64_t x = load<uint64_t>(a), y = load<uint64_t>(b);
        if (x != y)
            return __builtin_bswap64(x) < __builtin_bswap64(y) ? -1 : 1;
    }
    for (; size > 0; size--, a++, b++)
        if (*a != *b)
            return uint8_t(*a) < uint8_t(*b) ? -1 : 1;
    return 0;
}

extern "C" void* memset(void* target, int value, size_t size)
{
    char* bytes = static_cast<char*>(target);
    uint64_t word = uint8_t(value) * 0x0101010101010101;
    if (size > kSmall)
        fill_block(target, value, size);
    else if (size >= 8)
    {
        for (size_t i = 0; i < size - 8; i += 8)
            store(bytes + i, word);
        store(bytes + size - 8, word);
    }
    else
        for (size_t i = 0; i < size; i++)
            // `volatile`, because the compiler would call memset otherwise.
            *const_cast<volatile char*>(bytes + i) = char(value);
    return target;
}
