// The exports of the component: `init`, which the build calls, and `check`.
#include "checker/check_script.h"

#include <stdlib.h>
#include <string.h>

extern "C"
{
#include "checker_guest.h"
}

namespace
{

// The definitions of the built-in globals: the globals of Luau, and those of toolscript.
constexpr const char* kBuiltIns[] = {
#include "checker_definitions.inc"
};

Definitions* definitions = nullptr;

std::string_view view(const checker_guest_string_t& text)
{
    return {reinterpret_cast<const char*>(text.ptr), text.len};
}

// The caller frees the text after it has read it, and drops the instance.
checker_guest_string_t copy(const std::string& text)
{
    auto* bytes = static_cast<uint8_t*>(malloc(text.size() + 1));
    if (!bytes)
        __builtin_trap();
    memcpy(bytes, text.data(), text.size());
    return {bytes, text.size()};
}

} // namespace

void exports_checker_guest_init()
{
    definitions = new Definitions();
    for (const char* text : kBuiltIns)
        if (!definitions->add(text))
            __builtin_trap();
    definitions->close("FileHandle");
}

bool exports_toolscript_checker_checks_check(exports_toolscript_checker_checks_request_t* request,
                                             exports_toolscript_checker_checks_list_diagnostic_t* result, checker_guest_string_t* error)
{
    CheckRequest input{
        {reinterpret_cast<const char*>(request->script.ptr), request->script.len},
        view(request->definitions),
        {view(request->functions), view(request->aliases)},
        view(request->absent),
    };
    std::vector<Finding> findings;
    std::string reason;
    if (!check_script(*definitions, input, findings, reason))
    {
        *error = copy(reason);
        return false;
    }
    size_t size = sizeof(exports_toolscript_checker_checks_diagnostic_t) * (findings.size() + 1);
    auto* list = static_cast<exports_toolscript_checker_checks_diagnostic_t*>(malloc(size));
    if (!list)
        __builtin_trap();
    for (size_t index = 0; index < findings.size(); index++)
    {
        const Finding& finding = findings[index];
        uint8_t severity =
            finding.mistake.is_certain ? EXPORTS_TOOLSCRIPT_CHECKER_CHECKS_SEVERITY_ERROR : EXPORTS_TOOLSCRIPT_CHECKER_CHECKS_SEVERITY_NOTE;
        list[index] = {severity, finding.line, finding.column, finding.length, copy(finding.mistake.message)};
    }
    *result = {list, findings.size()};
    return true;
}

// Replaces the bindings' function, which would free the result. The instance is dropped after the host has read it.
extern "C" void __wasm_export_exports_toolscript_checker_checks_check_post_return(uint8_t*) {}

// The bindings refer to an object file that contains the contract. The build embeds the contract itself, because it removes `init`.
extern "C" void __component_type_object_force_link_checker_guest() {}
