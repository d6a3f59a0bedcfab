// Columns of positions in a script.
#pragma once

#include "Luau/Location.h"

#include <stdint.h>
#include <string_view>

// Returns the number of characters from `start` to `end`. The text is UTF-8.
uint32_t count_characters(const char* start, const char* end);

// Converts a position of the parser, which counts bytes from 0, to a column, which counts characters from 1.
uint32_t to_column(std::string_view text, const Luau::Position& position);
