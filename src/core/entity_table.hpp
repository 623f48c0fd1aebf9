// The named character references of HTML, sorted by the bytes of their names, as written by
// tools/entity_table.py. A name holds its semicolon where the reference needs one.
#pragma once

#include <cstdint>

namespace roughly {

struct Entity {
    const char* name;  // without the ampersand
    uint8_t name_size;
    const char* text;  // UTF-8
    uint8_t text_size;
};

inline constexpr int entity_count = 2231;
extern const Entity entity_table[entity_count];

}  // namespace roughly
