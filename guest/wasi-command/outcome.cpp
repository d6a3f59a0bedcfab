#include "wasi-command/outcome.h"
#include "wasi-command/utf8_lossy.h"
#include "wasi-command/log.h"
#include "wasi-command/output.h"
#include "wasi-command/touched_files.h"

#include <stdio.h>
#include <string.h>

namespace
{

constexpr size_t kMaxResult = 1 << 20;
constexpr size_t kMaxErrorText = 8 * 1024;

// An error's text: one line, with what would break it shown as an escape, and cut at its limit.
struct Line
{
    size_t size = 0;
    bool cut = false;
    char text[kMaxErrorText];

    void add(std::string_view part)
    {
        cut |= part.size() > kMaxErrorText - size;
        if (cut)
            return;
        memcpy(text + size, part.data(), part.size());
        size += part.size();
    }

    void add_text(std::string_view bytes, bool one_line)
    {
        bool longer = bytes.size() > kMaxErrorText;
        for (std::string_view rest = bytes.substr(0, kMaxErrorText); !rest.empty() && !cut;)
        {
            std::string_view character = next_character(&rest);
            uint32_t code = code_of(character);
            if (!one_line || !is_control(code) || code == '\t')
                add(character);
            else if (code == '\n' || code == '\r')
                add(code == '\n' ? "\\n" : "\\r");
            else
            {
                char escape[16];
                add({escape, size_t(snprintf(escape, sizeof(escape), "\\u{%x}", code))});
            }
        }
        cut |= longer;
    }
};

Line message;
Line traceback;

std::string_view view(const unprepared_list_u8_t& bytes)
{
    return {reinterpret_cast<char*>(bytes.ptr), bytes.len};
}

const char* kind_of(const unprepared_failure_t& failure)
{
    // `coroutine.wrap` raises the text anew, with its place in front.
    bool out_of_memory = guest_memory_was_denied() && view(failure.message).ends_with("not enough memory");
    switch (failure.kind)
    {
    case TOOLSCRIPT_SANDBOX_TYPES_KIND_SYNTAX:
        return "syntax";
    case TOOLSCRIPT_SANDBOX_TYPES_KIND_RESULT:
        return "result";
    case TOOLSCRIPT_SANDBOX_TYPES_KIND_RUNTIME:
        return out_of_memory ? "memory" : "runtime";
    default:
        return "memory";
    }
}

void add_error(Output* output, const char* kind)
{
    output->add("{\"error\":{\"kind\":");
    output->add_string(kind);
    output->add(",\"message\":");
    output->add_string({message.text, message.size});
    if (traceback.size)
    {
        output->add(",\"traceback\":");
        output->add_string({traceback.text, traceback.size});
    }
    output->add("}");
}

// What was cut, if anything was.
void add_truncated(Output* output)
{
    bool first = true;
    auto add = [&](bool cut, std::string_view name)
    {
        if (!cut)
            return;
        output->add(first ? ",\"truncated\":[" : ",");
        output->add_string(name);
        first = false;
    };
    add(log_is_cut(), "logs");
    add(message.cut, "message");
    add(traceback.cut, "traceback");
    if (!first)
        output->add("]");
}

const char* explain(const unprepared_string_t* result, const unprepared_failure_t& failure)
{
    if (!result)
    {
        message.add_text(view(failure.message), true);
        traceback.add_text(view(failure.traceback), false);
        return kind_of(failure);
    }
    if (result->len <= kMaxResult)
        return nullptr;
    char text[160];
    int size = snprintf(text, sizeof(text), "the result is %zu bytes as JSON; at most %zu are allowed: return less, or print or write it in parts",
                        result->len, kMaxResult);
    message.add({text, size_t(size)});
    return "result";
}

} // namespace

ExitCode outcome_print(const unprepared_string_t* result, const unprepared_failure_t* failure)
{
    const char* kind = explain(result, *failure);
    Output output(kStandardOutput);
    if (kind)
        add_error(&output, kind);
    else
    {
        output.add("{\"result\":");
        output.add({reinterpret_cast<char*>(result->ptr), result->len});
    }
    output.add(",\"logs\":");
    log_report(&output);
    output.add(",\"files_touched\":");
    touched_report(&output);
    add_truncated(&output);
    output.add("}\n");
    if (!output.flush())
        return kFailed;
    return !kind ? kDone : strcmp(kind, "memory") == 0 ? kLimit : kFailed;
}
