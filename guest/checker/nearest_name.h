// Names that a misspelt name may stand for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

// Returns the names that differ from `name` in at most a third of its characters, best first, at most three. Case does not count.
std::vector<std::string_view> nearest_names(std::string_view name, const std::vector<std::string_view>& known);

// Returns ` (did you mean 'a', 'b' or 'c'?)`, or an empty text if no name is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known);

// Joins names with commas, and with `last` before the last one. Long lists are shortened.
std::string join_names(const std::vector<std::string_view>& names, const char* last, const char* quote);
