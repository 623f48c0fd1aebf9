// What stands between a document's tokens and its terms: stop words go, and words become stems
// (docs/simhash.md). Both work in place on the canonical form, which only becomes shorter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

// English stems, those of frequent words remembered. One Stemmer per thread.
class Stemmer {
   public:
    // Changes the token in place; returns the size of its stem. 16 bytes are read.
    size_t stem(uint8_t* token, size_t size);

   private:
    struct Known {
        uint64_t word[2];
        uint64_t stem[2];
        size_t word_size = 0;  // 0: nothing is here
        size_t stem_size;
    };
    std::vector<Known> known_;
};

// Leaves out what is in `stop_words`, then takes stems; either may be missing.
void make_terms(Tokens& tokens, const StopWords* stop_words, Stemmer* stemmer);

}  // namespace roughly
