// Fuzzes what stands between tokens and simhashes: any bytes, with stop words and stems, with
// every kind of weight, give the same simhash at every instruction set; and a stem is never longer
// than its word. The first byte of an input chooses the features.
#include "simhash.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "stem.hpp"

using namespace roughly;

static void require(bool holds) {
    if (!holds) std::abort();
}

static void check_same(const DocumentView& document, const SimhashParameters& parameters) {
    const SimhashColumns plain =
        simhash_batch({&document, 1}, parameters, ContentType::automatic, 1, Simd::plain);
    require(plain.features[0] || plain.simhash[0] == 0);
    for (Simd level : simd_levels()) {
        const SimhashColumns other =
            simhash_batch({&document, 1}, parameters, ContentType::automatic, 1, level);
        require(other.simhash == plain.simhash && other.features == plain.features &&
                other.tokens == plain.tokens);
    }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    const uint8_t choice = data[0];
    const DocumentView document{data + 1, size - 1};
    static const StopWords stop_words(std::vector<std::string>{"the", "of", "a", "yourselves", ""});

    SimhashParameters parameters{.first_width = choice % 3 + size_t{1}, .last_width = 3};
    parameters.stem = choice & 4;
    parameters.once = choice & 8;
    if (choice & 16) parameters.stop_words = &stop_words;
    check_same(document, parameters);

    parameters.once = false;
    FrequencyCounter counter;
    counter.add({&document, 1}, parameters, ContentType::automatic, 1, Simd::plain);
    parameters.weights = &counter.table();
    parameters.other_weight = 7;
    check_same(document, parameters);

    std::string word(reinterpret_cast<const char*>(data + 1), size - 1);
    require(stem_english(reinterpret_cast<uint8_t*>(word.data()), word.size()) <= word.size());
    return 0;
}
