// The members of `io` that exist only to explain that they are not available.
#pragma once

struct UnavailableMember
{
    const char* full_name;
    const char* key;
    const char* hint;
};

inline constexpr UnavailableMember kUnavailableFunctions[] = {
    {"io.popen", "popen", ""},
    {"io.tmpfile", "tmpfile", ""},
    {"io.input", "input", "; use io.open"},
    {"io.output", "output", "; use io.open"},
    {"io.read", "read", "; use io.open"},
    {"io.write", "write", "; use print, or io.open"},
    {"io.flush", "flush", ""},
};

inline constexpr UnavailableMember kUnavailableStreams[] = {
    {"io.stdin", "stdin", ""},
    {"io.stdout", "stdout", "; use print"},
    {"io.stderr", "stderr", "; use print"},
};
