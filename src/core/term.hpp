// What stands between a document's tokens and its terms: stop words go, and words become stems
// (docs/simhash.md). Both work in place on the canonical form, which only becomes shorter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "token.hpp"

namespace roughly {

// A set of tokens. Never changes; any thread may ask it.
class StopWords {
   public:
    explicit StopWords(const std::vector<std::string>& words);

    bool contains(std::string_view token) const {
        return token.size() <= longest_ && words_.contains(token);
    }
    size_t size() const { return words_.size(); }

   private:
    struct Hash {
        using is_transparent = void;
        size_t operator()(std::string_view word) const {
            return std::hash<std::string_view>{}(word);
        }
    };
    std::unordered_set<std::string, Hash, std::equal_to<>> words_;
    size_t longest_ = 0;
};

// Leaves out what is in `stop_words` (if any), then takes English stems if asked.
void make_terms(Tokens& tokens, const StopWords* stop_words, bool stem);

}  // namespace roughly
