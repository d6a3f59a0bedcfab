#include "lib/io/host_file.h"

#include <stdlib.h>
#include <string.h>

uint64_t host_allowance = 0;

namespace
{

// What the host gives in one call.
constexpr size_t kBlock = 1 << 20;

char message[kMessage];

Problem without_text = {TOOLSCRIPT_SANDBOX_IO_ERROR_REFUSED, 5, "Input/output error", 18};

// While it lives, what the host passes in lands there, or where messages do. Not for calls that get several texts.
struct Landing
{
    explicit Landing(char* place = message, size_t size = kMessage)
    {
        guest_land(place, size);
    }

    ~Landing()
    {
        guest_land(nullptr, 0);
    }

    Landing(const Landing&) = delete;
    Landing& operator=(const Landing&) = delete;
};

bool told(bool done, const toolscript_sandbox_io_error_t& error, Problem* problem)
{
    if (!done)
        *problem = problem_of(error);
    return done;
}

toolscript_sandbox_io_borrow_file_t borrow(HostFile file)
{
    return toolscript_sandbox_io_borrow_file(file);
}

} // namespace

bool host_open(const char* path, size_t size, OpenMode mode, HostFile* file, Problem* problem)
{
    unprepared_list_u8_t list = list_of(path, size);
    toolscript_sandbox_io_opened_t opened;
    toolscript_sandbox_io_error_t error;
    Landing landing;
    if (!told(toolscript_sandbox_io_open(&list, mode, &opened, &error), error, problem))
        return false;
    *file = opened.file;
    host_allowance = opened.allowance;
    return true;
}

bool host_read(HostFile file, char* place, size_t size, size_t* count, Problem* problem)
{
    unprepared_list_u8_t list;
    toolscript_sandbox_io_error_t error;
    // A message may land there too.
    Landing landing(place, size < kMessage ? kMessage : size);
    uint32_t most = uint32_t(size < kBlock ? size : kBlock);
    if (!told(toolscript_sandbox_io_method_file_read(borrow(file), most, &list, &error), error, problem))
        return false;
    *count = list.len;
    return true;
}

bool host_remaining(HostFile file, uint64_t* count, Problem* problem)
{
    toolscript_sandbox_io_error_t error;
    Landing landing;
    return told(toolscript_sandbox_io_method_file_remaining(borrow(file), count, &error), error, problem);
}

bool host_write(HostFile file, const char* bytes, size_t size, bool waiting, Problem* problem)
{
    unprepared_list_u8_t list = list_of(bytes, size);
    toolscript_sandbox_io_error_t error;
    Landing landing;
    return told(toolscript_sandbox_io_method_file_write(borrow(file), &list, waiting, &host_allowance, &error), error, problem);
}

bool host_seek(HostFile file, Whence whence, int64_t offset, uint64_t* offset_now, Problem* problem)
{
    toolscript_sandbox_io_position_t position;
    toolscript_sandbox_io_error_t error;
    Landing landing;
    if (!told(toolscript_sandbox_io_method_file_seek(borrow(file), whence, offset, &position, &error), error, problem))
        return false;
    host_allowance = position.allowance;
    *offset_now = position.offset;
    return true;
}

bool host_remove(const char* path, size_t size, Problem* problem)
{
    unprepared_list_u8_t list = list_of(path, size);
    toolscript_sandbox_io_error_t error;
    Landing landing;
    return told(toolscript_sandbox_io_remove(&list, &error), error, problem);
}

Problem problem_of(const toolscript_sandbox_io_error_t& error)
{
    bool refused = error.tag == TOOLSCRIPT_SANDBOX_IO_ERROR_REFUSED;
    const unprepared_string_t& text = refused ? error.val.refused.message : error.val.limit;
    return {error.tag, refused ? error.val.refused.number : 0, reinterpret_cast<char*>(text.ptr), text.len};
}

Problem* problem_keep(const Problem& problem)
{
    Problem* kept = static_cast<Problem*>(malloc(sizeof(Problem) + problem.size));
    if (!kept)
        return &without_text;
    char* text = reinterpret_cast<char*>(kept + 1);
    memcpy(text, problem.text, problem.size);
    *kept = {problem.kind, problem.number, text, problem.size};
    return kept;
}

void problem_forget(Problem* kept, Problem* told)
{
    *told = *kept;
    told->size = kept->size < kMessage ? kept->size : kMessage;
    told->text = static_cast<char*>(memcpy(message, kept->text, told->size));
    if (kept != &without_text)
        free(kept);
}
