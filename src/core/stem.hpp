// The stem of an English word by the algorithm of M. F. Porter, "An algorithm for suffix
// stripping", Program 14(3), 1980, as published there. A stem is never longer than its word. Words
// of one or two letters, of more than `longest_word`, and with anything but a-z in them are their
// own stems.
#pragma once

#include <cstddef>
#include <cstdint>

namespace roughly {

// Longer than any English word, and short enough that letters may be looked at again and again.
inline constexpr size_t longest_word = 64;

// Changes the word in place; returns the size of its stem.
size_t stem_english(uint8_t* word, size_t size);

}  // namespace roughly
