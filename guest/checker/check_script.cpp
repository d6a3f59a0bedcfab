#include "checker/check_script.h"

#include "runtime/source_position.h"

#include "Luau/Common.h"
#include "Luau/Parser.h"

#include <algorithm>

// The runtime has the same limit. A script with deeper nesting has a syntax error there.
LUAU_FASTINT(LuauRecursionLimit)
constexpr int kMaxNesting = 400;

namespace
{

// The number of mistakes that are returned. A script of one mebibyte can have very many.
constexpr size_t kMaxFindings = 50;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

Finding locate(std::string_view script, Mistake mistake)
{
    Finding finding;
    finding.line = mistake.location.begin.line + 1;
    finding.column = to_column(script, mistake.location.begin);
    bool is_one_line = mistake.location.end.line == mistake.location.begin.line;
    finding.length = is_one_line ? to_column(script, mistake.location.end) - finding.column : 0;
    finding.mistake = std::move(mistake);
    return finding;
}

} // namespace

bool check_script(Definitions& definitions, const CheckRequest& request, std::vector<Finding>& findings, std::string& reason)
{
    FInt::LuauRecursionLimit.value = kMaxNesting;
    std::string_view script = request.script;
    if (script.substr(0, kByteOrderMark.size()) == kByteOrderMark)
        script.remove_prefix(kByteOrderMark.size());
    if (script.find('\0') != std::string_view::npos)
    {
        reason = "unexpected NUL byte";
        return false;
    }
    // A `#!` line is a comment.
    std::string commented;
    if (script.substr(0, 2) == "#!")
    {
        commented = "--" + std::string(script.substr(2));
        script = commented;
    }
    if (!definitions.add(request.definitions))
    {
        reason = "the definitions have a syntax error";
        return false;
    }
    for (std::string_view rest = request.absent; !rest.empty();)
    {
        size_t end = std::min(rest.find('\n'), rest.size());
        definitions.remove(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    Luau::ParseResult parsed = Luau::Parser::parse(script.data(), script.size(), definitions.names(), definitions.allocator());
    if (!parsed.errors.empty())
    {
        const Luau::ParseError& error = parsed.errors.front();
        reason = "line " + std::to_string(error.getLocation().begin.line + 1) + ": " + error.getMessage();
        return false;
    }
    Facts facts = collect_facts(parsed.root);
    std::vector<Mistake> mistakes = Checker(definitions, request.functions, facts).check(parsed.root);
    // Notes make no room for themselves at the cost of errors.
    std::stable_partition(mistakes.begin(), mistakes.end(), [](const Mistake& mistake) { return mistake.is_certain; });
    if (mistakes.size() > kMaxFindings)
    {
        mistakes.resize(kMaxFindings);
        mistakes.back().message += "; further mistakes are not listed";
    }
    for (Mistake& mistake : mistakes)
        findings.push_back(locate(script, std::move(mistake)));
    auto is_before = [](const Finding& a, const Finding& b) { return a.line != b.line ? a.line < b.line : a.column < b.column; };
    std::stable_sort(findings.begin(), findings.end(), is_before);
    return true;
}
