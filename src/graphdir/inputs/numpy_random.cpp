#include "graphdir/inputs/numpy_random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace passnet::graphdir {

double NumpyRandom::gauss() {
  if (has_kept_) {
    has_kept_ = false;
    return kept_;
  }
  double x = 0, y = 0, radius = 0;
  do {
    x = 2.0 * uniform() - 1.0;
    y = 2.0 * uniform() - 1.0;
    radius = x * x + y * y;
  } while (radius >= 1.0 || radius == 0.0);
  const double scale = std::sqrt(-2.0 * std::log(radius) / radius);
  kept_ = scale * x;
  has_kept_ = true;
  return scale * y;
}

int64_t NumpyRandom::integer(int64_t low, int64_t high) {
  const uint64_t base = static_cast<uint64_t>(low);
  const uint64_t range = static_cast<uint64_t>(high) - base;
  if (range == 0) return low;
  const uint64_t mask = ~uint64_t{0} >> std::countl_zero(range);
  const bool wide = range > 0xffffffffu;
  uint64_t value = 0;
  do {
    value = next();
    if (wide) value = value << 32 | next();
    value &= mask;
  } while (value > range);
  return static_cast<int64_t>(base + value);
}

void NumpyRandom::fill(uint32_t* words, size_t count) {
  const size_t ahead = std::min(count, unread_.size() - unread_at_);
  std::copy_n(unread_.begin() + static_cast<ptrdiff_t>(unread_at_), ahead, words);
  unread_at_ += ahead;
  engine_.fill(words + ahead, count - ahead);
}

namespace {

/// Attempts at a pair, four words each, that one thread makes at a time: what it holds stays in its cache.
constexpr size_t kAttempts = 16384;
/// More threads than this wait for words, which come one after the other.
constexpr int64_t kMostThreads = 8;

struct Chunk {
  std::vector<uint32_t> words = std::vector<uint32_t>(4 * kAttempts);
  std::vector<double> x = std::vector<double>(kAttempts), y = x, radius = x, scale = x;
  std::vector<uint16_t> attempt = std::vector<uint16_t>(kAttempts);  // that gave the pair
  std::vector<double> values = std::vector<double>(2 * kAttempts);
  size_t pairs = 0;

  /// The pairs among the attempts that `words` hold, and the two values of each, as gauss() makes them.
  void compute() {
    pairs = 0;
    for (size_t i = 0; i < kAttempts; ++i) {
      const uint32_t* word = words.data() + 4 * i;
      const auto uniform = [](uint32_t high, uint32_t low) {
        return (static_cast<double>(static_cast<int32_t>(high >> 5)) * 67108864.0 +
                static_cast<double>(static_cast<int32_t>(low >> 6))) /
               9007199254740992.0;
      };
      x[pairs] = 2.0 * uniform(word[0], word[1]) - 1.0;
      y[pairs] = 2.0 * uniform(word[2], word[3]) - 1.0;
      radius[pairs] = x[pairs] * x[pairs] + y[pairs] * y[pairs];
      attempt[pairs] = static_cast<uint16_t>(i);
      pairs += radius[pairs] < 1.0 && radius[pairs] != 0.0 ? 1 : 0;
    }
    for (size_t i = 0; i < pairs; ++i) scale[i] = std::log(radius[i]);
    for (size_t i = 0; i < pairs; ++i) scale[i] = std::sqrt(-2.0 * scale[i] / radius[i]);
    for (size_t i = 0; i < pairs; ++i) {
      values[2 * i] = scale[i] * y[i];
      values[2 * i + 1] = scale[i] * x[i];
    }
  }
};

}  // namespace

/// Threads take chunks of words in turn, compute them side by side, and learn in turn where their values
/// belong.
class NumpyRandom::Pipeline {
 public:
  Pipeline(NumpyRandom& random, int64_t first, int64_t count, int64_t threads, const GaussSink& sink)
      : turns_(static_cast<size_t>(threads)),
        random_(random),
        first_(first),
        pairs_left_((count + 1) / 2),
        odd_(count % 2 != 0),
        sink_(sink) {}

  void work() {
    Chunk chunk;
    for (;;) {
      std::unique_lock guard(lock_);
      if (pairs_left_ == 0) return;
      const int64_t ticket = next_ticket_++;
      random_.fill(chunk.words.data(), chunk.words.size());
      guard.unlock();
      chunk.compute();
      guard.lock();
      turn_of(ticket).wait(guard, [&] { return served_ == ticket; });
      const auto pairs = std::min<int64_t>(static_cast<int64_t>(chunk.pairs), pairs_left_);
      const int64_t first = first_;
      // Nothing of a chunk that was drawn after the last pair is used.
      const size_t used = pairs_left_ == 0       ? 0
                          : pairs == pairs_left_ ? 4 * (size_t{chunk.attempt[static_cast<size_t>(pairs) - 1]} + 1)
                                                 : chunk.words.size();
      leftover_.insert(leftover_.end(), chunk.words.begin() + static_cast<ptrdiff_t>(used), chunk.words.end());
      int64_t values = 2 * pairs;
      if (pairs > 0 && pairs == pairs_left_ && odd_) {
        random_.has_kept_ = true;
        random_.kept_ = chunk.values[static_cast<size_t>(--values)];
      }
      pairs_left_ -= pairs;
      first_ += values;
      ++served_;
      guard.unlock();
      turn_of(ticket + 1).notify_one();
      if (values > 0) sink_(first, {chunk.values.data(), static_cast<size_t>(values)});
    }
  }
  /// Words that were taken and not used, in order. After all threads have ended.
  std::vector<uint32_t> take_leftover() { return std::move(leftover_); }

 private:
  /// Each thread holds one ticket, so that two that are waited with are never of one place.
  std::condition_variable& turn_of(int64_t ticket) { return turns_[static_cast<size_t>(ticket) % turns_.size()]; }

  std::mutex lock_;
  std::vector<std::condition_variable> turns_;
  NumpyRandom& random_;
  int64_t next_ticket_ = 0, served_ = 0;
  int64_t first_, pairs_left_;
  bool odd_;
  std::vector<uint32_t> leftover_;
  const GaussSink& sink_;
};

void NumpyRandom::gauss(int64_t count, int threads, const GaussSink& sink) {
  int64_t first = 0;
  if (has_kept_ && count > 0) {
    const double value = gauss();
    sink(first++, {&value, 1});
  }
  if (first == count) return;
  const int64_t chunks = (count - first) / static_cast<int64_t>(kAttempts);
  const int64_t workers = std::clamp<int64_t>(chunks, 1, std::clamp<int64_t>(threads, 1, kMostThreads));
  Pipeline pipeline(*this, first, count - first, workers, sink);
  std::vector<std::thread> helpers;
  for (int64_t i = 1; i < workers; ++i) helpers.emplace_back([&] { pipeline.work(); });
  pipeline.work();
  for (std::thread& helper : helpers) helper.join();
  std::vector<uint32_t> unread = pipeline.take_leftover();
  unread.insert(unread.end(), unread_.begin() + static_cast<ptrdiff_t>(unread_at_), unread_.end());
  unread_ = std::move(unread);
  unread_at_ = 0;
}

}  // namespace passnet::graphdir
