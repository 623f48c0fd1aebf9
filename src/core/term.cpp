#include "term.hpp"

#include <algorithm>
#include <cstring>

#include "stem.hpp"

namespace roughly {

StopWords::StopWords(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        longest_ = std::max(longest_, word.size());
        words_.insert(word);
    }
}

void make_terms(Tokens& tokens, const StopWords* stop_words, bool stem) {
    if (!stop_words && !stem) return;
    uint8_t* const canonical = tokens.canonical.data();
    uint32_t begin = 0, position = 0;
    size_t kept = 0;
    for (size_t i = 0; i < tokens.count; ++i) {
        const uint32_t end = tokens.ends[i];
        uint8_t* const token = canonical + begin;
        size_t size = end - begin;
        begin = end + 1;
        if (stop_words && stop_words->contains({reinterpret_cast<const char*>(token), size}))
            continue;
        if (stem) size = stem_english(token, size);
        std::memmove(canonical + position, token, size);
        position += static_cast<uint32_t>(size);
        tokens.ends[kept++] = position;
        canonical[position++] = ' ';
    }
    tokens.count = kept;
    tokens.canonical_size = position;
}

}  // namespace roughly
