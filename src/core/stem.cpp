#include "stem.hpp"

#include <cstring>
#include <string_view>

namespace roughly {

namespace {

struct Rule {
    std::string_view suffix;
    std::string_view replacement;
};

// Within a step the longest suffix that matches decides, so longer ones stand before those that
// they end in.
constexpr Rule step_2[] = {
    {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"},
    {"abli", "able"},   {"alli", "al"},     {"entli", "ent"}, {"ousli", "ous"}, {"eli", "e"},
    {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},  {"alism", "al"},  {"iveness", "ive"},
    {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},  {"iviti", "ive"}, {"biliti", "ble"},
};
constexpr Rule step_3[] = {
    {"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
    {"ical", "ic"},  {"ful", ""},   {"ness", ""},
};
constexpr std::string_view step_4[] = {
    "al",  "ance", "ence", "er",  "ic",  "able", "ible", "ant", "ement", "ment",
    "ent", "ion",  "ou",   "ism", "ate", "iti",  "ous",  "ive", "ize",
};

class Word {
   public:
    Word(uint8_t* letters, size_t size) : letters_(letters), size_(size) {}

    size_t stem() {
        step_1a();
        step_1b();
        if (ends("y") && has_vowel(size_ - 1)) letters_[size_ - 1] = 'i';
        replace_first(step_2);
        replace_first(step_3);
        drop_step_4();
        step_5();
        return size_;
    }

   private:
    bool ends(std::string_view suffix) const {
        return size_ >= suffix.size() &&
               std::memcmp(letters_ + size_ - suffix.size(), suffix.data(), suffix.size()) == 0;
    }

    bool is_consonant(size_t i) const {
        switch (letters_[i]) {
            case 'a':
            case 'e':
            case 'i':
            case 'o':
            case 'u': return false;
            case 'y': {
                // A y is a vowel behind a consonant; a run of them takes turns.
                size_t first = i;
                while (first > 0 && letters_[first - 1] == 'y') --first;
                const bool first_is = first == 0 || !is_consonant(first - 1);
                return ((i - first) % 2 == 0) == first_is;
            }
            default: return true;
        }
    }

    // The m of [C](VC)^m[V], of the first `size` letters.
    size_t measure(size_t size) const {
        size_t m = 0;
        bool vowel = false;
        for (size_t i = 0; i < size; ++i) {
            const bool consonant = is_consonant(i);
            m += vowel && consonant;
            vowel = !consonant;
        }
        return m;
    }

    bool has_vowel(size_t size) const {
        for (size_t i = 0; i < size; ++i)
            if (!is_consonant(i)) return true;
        return false;
    }

    bool double_consonant() const {
        return size_ >= 2 && letters_[size_ - 1] == letters_[size_ - 2] && is_consonant(size_ - 1);
    }

    // Consonant, vowel, consonant, the last none of w, x, y.
    bool ends_cvc(size_t size) const {
        if (size < 3 || !is_consonant(size - 1) || is_consonant(size - 2) ||
            !is_consonant(size - 3))
            return false;
        const uint8_t last = letters_[size - 1];
        return last != 'w' && last != 'x' && last != 'y';
    }

    void append(uint8_t letter) { letters_[size_++] = letter; }

    void step_1a() {
        if (ends("sses") || ends("ies"))
            size_ -= 2;
        else if (!ends("ss") && ends("s"))
            size_ -= 1;
    }

    void step_1b() {
        if (ends("eed")) {
            if (measure(size_ - 3) > 0) size_ -= 1;
            return;
        }
        const size_t suffix = ends("ed") ? 2 : ends("ing") ? 3 : 0;
        if (!suffix || !has_vowel(size_ - suffix)) return;
        size_ -= suffix;
        if (ends("at") || ends("bl") || ends("iz")) {
            append('e');
        } else if (double_consonant()) {
            const uint8_t last = letters_[size_ - 1];
            if (last != 'l' && last != 's' && last != 'z') size_ -= 1;
        } else if (measure(size_) == 1 && ends_cvc(size_)) {
            append('e');
        }
    }

    template <size_t count>
    void replace_first(const Rule (&rules)[count]) {
        for (const auto& [suffix, replacement] : rules) {
            if (!ends(suffix)) continue;
            if (measure(size_ - suffix.size()) > 0) {
                size_ -= suffix.size();
                std::memcpy(letters_ + size_, replacement.data(), replacement.size());
                size_ += replacement.size();
            }
            return;
        }
    }

    void drop_step_4() {
        for (const std::string_view suffix : step_4) {
            if (!ends(suffix)) continue;
            const size_t left = size_ - suffix.size();
            const bool allowed =
                suffix != "ion" ||
                (left > 0 && (letters_[left - 1] == 's' || letters_[left - 1] == 't'));
            if (allowed && measure(left) > 1) size_ = left;
            return;
        }
    }

    void step_5() {
        if (ends("e")) {
            const size_t m = measure(size_ - 1);
            if (m > 1 || (m == 1 && !ends_cvc(size_ - 1))) size_ -= 1;
        }
        if (measure(size_) > 1 && double_consonant() && letters_[size_ - 1] == 'l') size_ -= 1;
    }

    uint8_t* letters_;
    size_t size_;
};

}  // namespace

size_t stem_english(uint8_t* word, size_t size) {
    if (size <= 2 || size > longest_word) return size;
    for (size_t i = 0; i < size; ++i)
        if (word[i] < 'a' || word[i] > 'z') return size;
    return Word(word, size).stem();
}

}  // namespace roughly
