#include "term.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "stem.hpp"

namespace roughly {

namespace {

constexpr int log_known = 12;  // stems remembered: 192 KiB, in the second-level cache

inline uint64_t load(const uint8_t* bytes) {
    uint64_t word;
    std::memcpy(&word, bytes, 8);
    return word;
}

// The first `size` of eight bytes.
inline uint64_t load_some(const uint8_t* bytes, size_t size) {
    if (size >= 8) return load(bytes);
    return load(bytes) & ((uint64_t{1} << (8 * size)) - 1);
}

inline uint64_t mixed(uint64_t word) { return word * 0x9E3779B97F4A7C15u; }

}  // namespace

StopWords::StopWords(const std::vector<std::string>& words) {
    const int log_slots =
        std::max(8, static_cast<int>(std::bit_width(4 * words.size())));  // a quarter full
    slots_.assign(size_t{1} << log_slots, 0);
    shift_ = 64 - log_slots;
    for (const std::string& word : words) {
        uint8_t begin[8] = {};
        std::memcpy(begin, word.data(), std::min<size_t>(word.size(), 8));
        size_t at = place(load(begin), word.size());
        while (slots_[at]) at = (at + 1) & (slots_.size() - 1);
        words_.push_back(word);
        slots_[at] = static_cast<uint32_t>(words_.size());
        longest_ = std::max(longest_, word.size());
    }
}

size_t StopWords::place(uint64_t begin, size_t size) const { return mixed(begin + size) >> shift_; }

bool StopWords::contains(const uint8_t* token, size_t size) const {
    if (size > longest_) return false;
    for (size_t at = place(load_some(token, size), size); slots_[at];
         at = (at + 1) & (slots_.size() - 1)) {
        const std::string& word = words_[slots_[at] - 1];
        if (word.size() == size && std::memcmp(word.data(), token, size) == 0) return true;
    }
    return false;
}

size_t Stemmer::stem(uint8_t* token, size_t size) {
    if (size <= 2 || size > 16) return stem_english(token, size);
    if (known_.empty()) known_.resize(size_t{1} << log_known);
    const uint64_t word[2] = {load_some(token, size),
                              size > 8 ? load_some(token + 8, size - 8) : 0};
    Known& known = known_[mixed(word[0] ^ mixed(word[1] + size)) >> (64 - log_known)];
    if (known.word_size != size || known.word[0] != word[0] || known.word[1] != word[1]) {
        const size_t stem_size = stem_english(token, size);
        uint64_t stem[2] = {};
        std::memcpy(stem, token, stem_size);
        known = {{word[0], word[1]}, {stem[0], stem[1]}, size, stem_size};
        return stem_size;
    }
    std::memcpy(token, known.stem, known.stem_size);
    return known.stem_size;
}

void make_terms(Tokens& tokens, const StopWords* stop_words, Stemmer* stemmer) {
    if (!stop_words && !stemmer) return;
    uint8_t* const canonical = tokens.canonical.data();
    uint32_t begin = 0, position = 0;
    size_t kept = 0;
    for (size_t i = 0; i < tokens.count; ++i) {
        const uint32_t end = tokens.ends[i];
        uint8_t* const token = canonical + begin;
        size_t size = end - begin;
        begin = end + 1;
        if (stop_words && stop_words->contains(token, size)) continue;
        if (stemmer) size = stemmer->stem(token, size);
        if (size <= 16 && position + 16 <= begin) {
            // A whole vector, where nothing is overwritten that is still wanted.
            uint8_t copy[16];
            std::memcpy(copy, token, 16);
            std::memcpy(canonical + position, copy, 16);
        } else {
            std::memmove(canonical + position, token, size);
        }
        position += static_cast<uint32_t>(size);
        tokens.ends[kept++] = position;
        canonical[position++] = ' ';
    }
    tokens.count = kept;
    tokens.canonical_size = position;
}

}  // namespace roughly
