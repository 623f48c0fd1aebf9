#include "term.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "shingle.hpp"
#include "stem.hpp"

namespace roughly {

namespace {

constexpr int log_known = 14;  // terms remembered: 256 KiB, in the second-level cache

inline uint64_t load(const uint8_t* bytes) {
    uint64_t word;
    std::memcpy(&word, bytes, 8);
    return word;
}

inline uint64_t mixed(uint64_t word) { return word * 0x9E3779B97F4A7C15u; }

}  // namespace

StopWords::StopWords(const std::vector<std::string>& words) {
    // At most a quarter full, so that looking for what is not there ends soon.
    const int log_slots = std::max(8, static_cast<int>(std::bit_width(4 * words.size())));
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
    const uint64_t begin =
        size >= 8 ? load(token) : load(token) & ((uint64_t{1} << (8 * size)) - 1);
    for (size_t at = place(begin, size); slots_[at]; at = (at + 1) & (slots_.size() - 1)) {
        const std::string& word = words_[slots_[at] - 1];
        if (word.size() == size && std::memcmp(word.data(), token, size) == 0) return true;
    }
    return false;
}

TermMap::TermMap(const Keys& keys, const StopWords* stop_words, bool stem)
    : keys_(keys), stop_words_(stop_words), stem_(stem) {
    if (changes()) known_.assign(size_t{1} << log_known, Known{none, none});
}

uint64_t TermMap::term_of(const uint8_t* token, size_t size, uint64_t hash) const {
    if (stop_words_ && stop_words_->contains(token, size)) return none;
    if (!stem_ || size > longest_word) return hash;
    uint8_t word[longest_word + 16] = {};
    std::memcpy(word, token, size);
    return hash_token(word, stem_english(word, size), keys_);
}

size_t TermMap::map(const Tokens& tokens, uint64_t* hashes) {
    const uint8_t* const canonical = tokens.canonical.data();
    size_t kept = 0;
    for (size_t i = 0; i < tokens.count; ++i) {
        const uint64_t hash = hashes[i];
        Known& known = known_[mixed(hash) >> (64 - log_known)];
        if (known.token != hash) [[unlikely]] {
            const uint32_t begin = tokens.begin(i);
            known = {hash, term_of(canonical + begin, tokens.ends[i] - begin, hash)};
        }
        // Which words are stop words cannot be predicted: no branch.
        hashes[kept] = known.term;
        kept += known.term != none;
    }
    return kept;
}

}  // namespace roughly
