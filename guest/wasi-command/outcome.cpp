#include "wasi-command/outcome.h"
#include "memory/heap.h"
#include "wasi-command/log.h"
#include "wasi-command/output.h"
#include "wasi-command/touched_files.h"
#include "wasi-command/utf8_lossy.h"

#include <stdio.h>
#include <string.h>

namespace
{

constexpr size_t kMaxResult = 1 << 20;
constexpr size_t kMaxErrorText = 8 * 1024;

// The text of an error, truncated at its limit.
struct ErrorText
{
    size_t size = 0;
    bool is_truncated = false;
    char text[kMaxErrorText];

    void add(std::string_view part)
    {
        is_truncated |= part.size() > kMaxErrorText - size;
        if (is_truncated)
            return;
        memcpy(text + size, part.data(), part.size());
        size += part.size();
    }

    // Escapes control characters if the text must be one line.
    void add_text(std::string_view bytes, bool one_line)
    {
        bool is_longer = bytes.size() > kMaxErrorText;
        for (std::string_view rest = bytes.substr(0, kMaxErrorText); !rest.empty() && !is_truncated;)
        {
            std::string_view character = next_character(&rest);
            uint32_t code = code_point_of(character);
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
        is_truncated |= is_longer;
    }
};

ErrorText message;
ErrorText traceback;

std::string_view view(const guest_list_u8_t& bytes)
{
    return {reinterpret_cast<char*>(bytes.ptr), bytes.len};
}

const char* kind_of(const guest_failure_t& failure)
{
    // `coroutine.wrap` raises a memory error again as a runtime error, with a position in front.
    bool out_of_memory = heap_growth_was_denied() && view(failure.message).ends_with("not enough memory");
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

// Lists the parts that were truncated, if any.
void add_truncated(Output* output)
{
    bool first = true;
    auto add = [&](bool is_truncated, std::string_view name)
    {
        if (!is_truncated)
            return;
        output->add(first ? ",\"truncated\":[" : ",");
        output->add_string(name);
        first = false;
    };
    add(log_is_truncated(), "logs");
    add(message.is_truncated, "message");
    add(traceback.is_truncated, "traceback");
    if (!first)
        output->add("]");
}

// Lists the parts of the result that JSON can't represent, if any: one per line.
void add_replaced(Output* output, std::string_view lines)
{
    if (lines.empty())
        return;
    output->add(",\"replaced\":[");
    for (size_t end; (end = lines.find('\n')) != std::string_view::npos; lines.remove_prefix(end + 1))
    {
        output->add_string(lines.substr(0, end));
        output->add(",");
    }
    output->add_string(lines);
    output->add("]");
}

// Fills in the error texts and returns the kind of error, or null if the run succeeded.
const char* describe_error(const guest_success_t* success, const guest_failure_t& failure)
{
    if (!success)
    {
        message.add_text(view(failure.message), true);
        traceback.add_text(view(failure.traceback), false);
        return kind_of(failure);
    }
    if (success->json.len <= kMaxResult)
        return nullptr;
    char text[160];
    int size = snprintf(text, sizeof(text), "the result is %zu bytes as JSON; at most %zu are allowed: return less, or print or write it in parts",
                        success->json.len, kMaxResult);
    message.add({text, size_t(size)});
    return "result";
}

} // namespace

ExitCode outcome_print(const guest_success_t* success, const guest_failure_t* failure)
{
    const char* kind = describe_error(success, *failure);
    Output output(kStandardOutput);
    if (kind)
        add_error(&output, kind);
    else
    {
        output.add("{\"result\":");
        output.add({reinterpret_cast<char*>(success->json.ptr), success->json.len});
    }
    output.add(",\"logs\":");
    log_write_json(&output);
    output.add(",\"files_touched\":");
    touched_write_json(&output);
    add_truncated(&output);
    if (!kind)
        add_replaced(&output, view(success->replaced));
    output.add("}\n");
    if (!output.flush())
        return kFailed;
    return !kind ? kSuccess : strcmp(kind, "memory") == 0 ? kLimit : kFailed;
}
