// What stands between a document's tokens and its terms: stop words go, and words become stems
// (docs/simhash.md). Features depend on the hashes of tokens alone, so it is these that are
// changed: what becomes of a frequent word is remembered by its hash, and its letters are not
// looked at again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "key.hpp"
#include "token.hpp"

namespace roughly {

// A set of tokens. Never changes; any thread may ask it.
class StopWords {
   public:
    explicit StopWords(const std::vector<std::string>& words);

    // Eight bytes are read whatever the size, as those of a Buffer may be.
    bool contains(const uint8_t* token, size_t size) const;

   private:
    size_t place(uint64_t begin, size_t size) const;

    std::vector<std::string> words_;
    std::vector<uint32_t> slots_;  // one more than the position of a word; 0: nothing is here
    size_t longest_ = 0;
    int shift_ = 0;
};

// One TermMap per thread.
class TermMap {
   public:
    // No stop words if null; `keys` and `stop_words` must live as long.
    TermMap(const Keys& keys, const StopWords* stop_words, bool stem);

    // Whether terms are anything but the tokens.
    bool changes() const { return stop_words_ || stem_; }

    // Turns the hashes of the tokens into those of the terms, in place; returns how many are left.
    size_t map(const Tokens& tokens, uint64_t* hashes);

   private:
    struct Known {
        uint64_t token;  // hash, or `none` where nothing is known
        uint64_t term;   // hash, or `none` for a stop word
    };
    static constexpr uint64_t none = ~uint64_t{0};  // no hash is that large

    uint64_t term_of(const uint8_t* token, size_t size, uint64_t hash) const;

    const Keys& keys_;
    const StopWords* stop_words_;
    bool stem_;
    std::vector<Known> known_;
};

}  // namespace roughly
