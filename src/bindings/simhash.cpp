#include "simhash.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "arrow.hpp"
#include "bindings.hpp"
#include "distance_sample.hpp"
#include "stem.hpp"
#include "weighted_bit.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

namespace {

// What an occurrence of each feature weighs.
struct FeatureWeights {
    FeatureTable table;
    uint32_t other;

    FeatureWeights(InputArray<uint64_t> features, InputArray<uint32_t> weights, uint32_t others)
        : table(features.size()), other(others) {
        if (weights.size() != features.size())
            throw std::invalid_argument("weights: " + std::to_string(weights.size()) + " for " +
                                        std::to_string(features.size()) + " features");
        check(other);
        for (size_t i = 0; i < features.size(); ++i) {
            check(weights.data()[i]);
            table[features.data()[i]] = weights.data()[i];
        }
    }

    static void check(uint32_t weight) {
        if (weight >= WeightedBits::weight_limit)
            throw std::invalid_argument("weights: out of range: " + std::to_string(weight) +
                                        ", want less than 65536");
    }
};

// How documents become features, as Python says it.
class FeatureMaker {
   public:
    FeatureMaker(size_t first_width, size_t last_width, bool once, bool stem, uint64_t seed,
                 const std::optional<std::vector<nb::bytes>>& stop_words) {
        parameters_ = {first_width, last_width, once, stem, seed};
        parameters_.check();
        if (stop_words) {
            std::vector<std::string> words;
            for (const nb::bytes& word : *stop_words) words.emplace_back(word.c_str(), word.size());
            stop_words_.emplace(words);
        }
    }

    SimhashParameters parameters(const FeatureWeights* weights) const {
        SimhashParameters chosen = parameters_;
        if (stop_words_) chosen.stop_words = &*stop_words_;
        if (weights) {
            chosen.weights = &weights->table;
            chosen.other_weight = weights->other;
        }
        return chosen;
    }

   private:
    SimhashParameters parameters_;
    std::optional<StopWords> stop_words_;
};

using Flags = std::optional<InputArray<uint8_t>>;

std::span<const uint8_t> flags_of(const Flags& html) {
    return html ? std::span(html->data(), html->size()) : std::span<const uint8_t>();
}

auto to_arrays(SimhashColumns&& columns) {
    return std::tuple(to_array(std::move(columns.simhash)), to_array(std::move(columns.features)),
                      to_array(std::move(columns.tokens)));
}

}  // namespace

void bind_simhash(nb::module_& module) {
    nb::class_<FeatureMaker>(module, "FeatureMaker", "How documents become features.")
        .def(nb::init<size_t, size_t, bool, bool, uint64_t,
                      const std::optional<std::vector<nb::bytes>>&>(),
             "first_width"_a, "last_width"_a, "once"_a, "stem"_a, "seed"_a,
             "stop_words"_a = nb::none());
    nb::class_<FeatureWeights>(module, "FeatureWeights", "What each feature weighs.")
        .def(nb::init<InputArray<uint64_t>, InputArray<uint32_t>, uint32_t>(), "features"_a,
             "weights"_a, "others"_a);
    nb::class_<FrequencyCounter>(module, "FrequencyCounter",
                                 "How many documents have each feature.")
        .def(nb::init<>())
        .def_prop_ro("documents", &FrequencyCounter::documents, "Documents counted so far.")
        .def(
            "add",
            [](FrequencyCounter& self, nb::handle source, const FeatureMaker& maker,
               std::string_view content_type, size_t threads, std::string_view simd,
               const Flags& html) {
                const ContentType type = content_type_argument(content_type);
                const Simd level = simd_argument(simd);
                const Documents documents = documents_from(source);
                nb::gil_scoped_release release;
                self.add(documents.views, maker.parameters(nullptr), type, threads, level,
                         flags_of(html));
            },
            "source"_a, "maker"_a, "content_type"_a, "threads"_a, "simd"_a = "",
            "html"_a = nb::none(), "Counts a batch of documents.")
        .def(
            "result",
            [](const FrequencyCounter& self) {
                std::vector<uint64_t> features;
                std::vector<uint32_t> counts;
                {
                    nb::gil_scoped_release release;
                    for (const auto& [feature, count] : self.counts()) {
                        features.push_back(feature);
                        counts.push_back(count);
                    }
                }
                return std::tuple(to_array(std::move(features)), to_array(std::move(counts)));
            },
            "The features, ascending, and how many documents have each.");

    module.def(
        "simhash_batch",
        [](nb::handle source, const FeatureMaker& maker, std::string_view content_type,
           size_t threads, std::string_view simd, const Flags& html,
           const FeatureWeights* weights) {
            const ContentType type = content_type_argument(content_type);
            const Simd level = simd_argument(simd);
            const Documents documents = documents_from(source);
            SimhashColumns columns;
            {
                nb::gil_scoped_release release;
                columns = simhash_batch(documents.views, maker.parameters(weights), type, threads,
                                        level, flags_of(html));
            }
            return to_arrays(std::move(columns));
        },
        "source"_a, "maker"_a, "content_type"_a, "threads"_a, "simd"_a = "", "html"_a = nb::none(),
        "weights"_a.none() = nb::none(),
        "Simhashes of a list of bytes or an Arrow array of strings or binary, with the numbers of "
        "features (0: there is no simhash) and of tokens.");
    module.def(
        "simhash_pairs",
        [](nb::handle source, InputArray<double> weights, InputArray<int64_t> offsets,
           uint64_t seed, size_t threads, std::string_view simd) {
            const Simd level = simd_argument(simd);
            const Documents features = documents_from(source);
            SimhashColumns columns;
            {
                nb::gil_scoped_release release;
                columns = simhash_pairs(features.views, {weights.data(), weights.size()},
                                        {offsets.data(), offsets.size()}, seed, threads, level);
            }
            return to_arrays(std::move(columns));
        },
        "source"_a, "weights"_a, "offsets"_a, "seed"_a, "threads"_a, "simd"_a = "",
        "Simhashes of weighted features: row i has those from offsets[i] to offsets[i + 1].");
    module.def(
        "sample_distances",
        [](InputArray<uint64_t> simhashes, size_t least, size_t most, size_t each, uint64_t seed,
           size_t threads, std::string_view simd) {
            const Simd level = simd_argument(simd);
            DistanceSample sample;
            {
                nb::gil_scoped_release release;
                sample = sample_distances({simhashes.data(), simhashes.size()}, least, most, each,
                                          seed, threads, level);
            }
            return std::tuple(
                to_array(std::vector<uint64_t>(sample.pairs.begin(), sample.pairs.end())),
                to_table<uint32_t, 3>(std::move(sample.drawn)));
        },
        "simhashes"_a, "least"_a, "most"_a, "each"_a, "seed"_a, "threads"_a, "simd"_a = "",
        "How many pairs of simhashes have each distance from `least` to `most`, and `each` of "
        "every such distance: two positions and the distance.");
    module.def(
        "stem_english",
        [](const nb::bytes& word) {
            std::string letters(word.c_str(), word.size());
            letters.resize(stem_english(reinterpret_cast<uint8_t*>(letters.data()), word.size()));
            return nb::bytes(letters.data(), letters.size());
        },
        "word"_a, "The stem of an English word in lower case.");
}

}  // namespace roughly
