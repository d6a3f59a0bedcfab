#include "runtime/syntax_hint.h"

#include <stdlib.h>
#include <string.h>
#include <vector>

using Luau::Lexeme;
using Luau::Location;

namespace
{

constexpr const char* kComment = "comments start with --";

// How many tokens before an error, and from it on, are examined.
constexpr size_t kMaxBefore = 16;
constexpr size_t kMaxFrom = 64;

// A word at the start of a statement that is not one in Luau.
struct Word
{
    const char* word;
    const char* hint;
};

constexpr Word kWords[] = {
    {"goto", "Luau has no goto; use continue, break or a function"},
    {"elif", "use elseif"},
    {"elsif", "use elseif"},
    {"var", "use local"},
    {"let", "use local"},
    {"def", "use function"},
    {"func", "use function"},
    {"switch", "use if and elseif"},
    {"try", "use pcall"},
};

bool is(const Lexeme& token, int type)
{
    return int(token.type) == type;
}

bool is_name(const Lexeme& token, const char* name)
{
    return token.type == Lexeme::Name && strcmp(token.name, name) == 0;
}

bool is_adjacent(const Lexeme& first, const Lexeme& second)
{
    return first.location.end == second.location.begin;
}

bool is_same_line(const Lexeme& first, const Lexeme& second)
{
    return first.location.end.line == second.location.begin.line;
}

// Returns true if an expression can end with the token.
bool ends_expression(const Lexeme& token)
{
    switch (int(token.type))
    {
    case Lexeme::Name:
    case Lexeme::Number:
    case Lexeme::QuotedString:
    case Lexeme::RawString:
    case Lexeme::InterpStringSimple:
    case Lexeme::InterpStringEnd:
    case Lexeme::Dot3:
    case Lexeme::ReservedNil:
    case Lexeme::ReservedTrue:
    case Lexeme::ReservedFalse:
    case Lexeme::ReservedEnd:
    case ')':
    case ']':
    case '}':
        return true;
    default:
        return false;
    }
}

// The tokens around an error.
class Tokens
{
public:
    Tokens(const std::string& text, const Location& error, Luau::AstNameTable& names, int else_line)
        : error(error)
    {
        Luau::Lexer lexer(text.data(), text.size(), names);
        lexer.setSkipComments(false);
        Lexeme previous(Location(), Lexeme::Eof);
        while (from.size() < kMaxFrom)
        {
            const Lexeme& token = lexer.next(false, false);
            if (is(previous, Lexeme::ReservedElse) && is(token, Lexeme::ReservedIf) && is_same_line(previous, token))
                has_else_if = has_else_if || int(token.location.begin.line) + 1 == else_line;
            previous = token;
            if (is(token, Lexeme::Eof))
                break;
            if (is(token, Lexeme::Comment) || is(token, Lexeme::BlockComment))
                is_comment_adjacent = is_comment_adjacent || token.location.begin == error.end;
            else if (token.location.begin < error.begin)
                add_before(token);
            else
                from.push_back(token);
        }
    }

    const Location error;
    // A missing token has the type Eof.
    const Lexeme& at(int index) const
    {
        if (index >= 0)
            return size_t(index) < from.size() ? from[index] : none;
        return size_t(-index) <= before.size() ? before[before.size() + index] : none;
    }

    // Returns the index of the first token after the part of the text that is wrong.
    int after() const
    {
        int index = 0;
        while (size_t(index) < from.size() && from[index].location.begin < error.end)
            index++;
        return index;
    }

    // Returns the index of the first token in the line of the token at `index`.
    int line_start(int index) const
    {
        while (!is(at(index - 1), Lexeme::Eof) && is_same_line(at(index - 1), at(index)))
            index--;
        return index;
    }

    // Returns true if the tokens at `index` and after it are two of the type without a space.
    bool is_double(int index, int type) const
    {
        return is(at(index), type) && is(at(index + 1), type) && is_adjacent(at(index), at(index + 1));
    }

    bool has_else_if = false;
    bool is_comment_adjacent = false;

private:
    void add_before(const Lexeme& token)
    {
        if (before.size() == kMaxBefore)
            before.erase(before.begin());
        before.push_back(token);
    }

    std::vector<Lexeme> before;
    std::vector<Lexeme> from;
    const Lexeme none{Location(), Lexeme::Eof};
};

// An expression that is not a statement.
const char* find_statement_hint(const Tokens& tokens)
{
    for (const Word& word : kWords)
        if (is_name(tokens.at(0), word.word) && tokens.at(0).location.end == tokens.error.end)
            return word.hint;
    int after = tokens.after();
    if (tokens.is_double(after, '+'))
        return "use += 1";
    if (tokens.is_comment_adjacent)
        return "-- starts a comment; use -= 1";
    // In `x = 1 // two words`, the second word is the statement.
    for (int index = tokens.line_start(0); index < 0; index++)
        if (is(tokens.at(index), Lexeme::FloorDiv))
            return kComment;
    return nullptr;
}

// In `a << b`, the parser may read the start of a type argument, and fail later in the line.
bool is_left_shift(const Tokens& tokens)
{
    bool is_open = false;
    for (int index = tokens.line_start(0); index < 0; index++)
    {
        if (tokens.is_double(index, '<'))
            is_open = true;
        if (tokens.is_double(index, '>'))
            is_open = false;
    }
    return is_open;
}

bool is_label(const Tokens& tokens, int index)
{
    return is(tokens.at(index), Lexeme::DoubleColon) && is(tokens.at(index + 1), Lexeme::Name) && is(tokens.at(index + 2), Lexeme::DoubleColon) &&
           tokens.line_start(index) == index && is_same_line(tokens.at(index), tokens.at(index + 2));
}

// An unexpected token.
const char* find_token_hint(const Tokens& tokens)
{
    bool is_binary = ends_expression(tokens.at(-1));
    switch (int(tokens.at(0).type))
    {
    case Lexeme::DoubleColon:
        if (is_label(tokens, 0) || is_label(tokens, -2))
            return "Luau has no labels; use continue, break or a function";
        return nullptr;
    case '&':
        return is_binary ? "use bit32.band(a, b)" : nullptr;
    case '|':
        return is_binary ? "use bit32.bor(a, b)" : nullptr;
    case '~':
        return is_binary ? "use bit32.bxor(a, b)" : "use bit32.bnot(a)";
    case '<':
        if (tokens.is_double(-1, '<'))
            return "use bit32.lshift(a, b)";
        if (is(tokens.at(-1), Lexeme::Name) && is(tokens.at(2), '>') && is_name(tokens.at(1), "const"))
            return "Luau has no <const>; leave it out";
        if (is(tokens.at(-1), Lexeme::Name) && is(tokens.at(2), '>') && is_name(tokens.at(1), "close"))
            return "Luau has no <close>; leave it out, and close the value at the end";
        return nullptr;
    case '>':
        return tokens.is_double(-1, '>') ? "use bit32.rshift(a, b)" : nullptr;
    case '+':
        return tokens.is_double(-1, '+') ? "use += 1" : nullptr;
    case '*':
        if (tokens.is_double(-1, '*'))
            return "use ^ for powers";
        return is(tokens.at(-1), '/') && is_adjacent(tokens.at(-1), tokens.at(0)) ? kComment : nullptr;
    case '=':
        return is(tokens.at(-1), Lexeme::Equal) && is_adjacent(tokens.at(-1), tokens.at(0)) ? "use ==" : nullptr;
    case '?':
        return is_binary && !is(tokens.at(1), '.') ? "use if condition then a else b" : nullptr;
    case '#':
        return kComment;
    case '/':
        return is(tokens.at(1), '*') && is_adjacent(tokens.at(0), tokens.at(1)) ? kComment : nullptr;
    case Lexeme::FloorDiv:
        return is_binary ? nullptr : kComment;
    default:
        return nullptr;
    }
}

// Returns the line of an `else`, or of a `then` after it, that the parser says is not closed. Returns 0 if there is none.
int unclosed_else_line(const std::string& message)
{
    for (const char* text : {"close 'else' at line ", "close 'then' at line "})
        if (size_t start = message.rfind(text); start != std::string::npos)
            return atoi(message.c_str() + start + strlen(text));
    return 0;
}

} // namespace

const char* find_syntax_hint(const std::string& text, const Location& error, const std::string& message, Luau::AstNameTable& names)
{
    // The parser has its own hint for the operators of C.
    if (message.starts_with("Unexpected '"))
        return nullptr;
    Tokens tokens(text, error, names, unclosed_else_line(message));
    if (tokens.has_else_if)
        return "use elseif, or one more end";
    if (message.starts_with("Incomplete statement"))
        return find_statement_hint(tokens);
    if (const char* hint = find_token_hint(tokens))
        return hint;
    return is_left_shift(tokens) ? "use bit32.lshift(a, b)" : nullptr;
}
