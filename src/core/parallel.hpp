// Independent pieces of work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace roughly {

// Every thread calls make_worker() once and then worker(piece) for pieces from 0 to `pieces`, each
// piece exactly once. The caller's thread works too. What a worker throws is thrown here, after all
// threads have stopped; the pieces that were not begun by then are left out.
template <typename MakeWorker>
void in_parallel(size_t pieces, size_t threads, MakeWorker&& make_worker) {
    std::atomic<size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    const auto work = [&] {
        try {
            auto worker = make_worker();
            for (size_t piece; (piece = next.fetch_add(1)) < pieces;) worker(piece);
        } catch (...) {
            const std::lock_guard lock(failure_mutex);
            failure = std::current_exception();
            next = pieces;
        }
    };
    std::vector<std::thread> helpers;
    const size_t wanted = std::min(std::max<size_t>(threads, 1), std::max<size_t>(pieces, 1));
    helpers.reserve(wanted);
    try {
        for (size_t i = 1; i < wanted; ++i) helpers.emplace_back(work);
    } catch (...) {
        // The system has no more threads to give; those that run do all the work.
    }
    work();
    for (std::thread& helper : helpers) helper.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace roughly
