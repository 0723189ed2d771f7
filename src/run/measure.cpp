#include "run/measure.h"

#include <algorithm>
#include <ctime>
#include <thread>

#include <fmt/format.h>

#include "bench/stats.h"
#include "run/session.h"

namespace passnet::run {

using namespace std::chrono_literals;

namespace {

constexpr int kBlocksPerSide = 4;
int64_t cpu_time_ns(clockid_t clock) {
  timespec now{};
  return ::clock_gettime(clock, &now) == 0 ? int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec : 0;
}

}  // namespace

bool wait_until_quiet(pid_t pid) {
  clockid_t clock;
  if (::clock_getcpuclockid(pid, &clock) != 0) return true;
  const auto deadline = std::chrono::steady_clock::now() + 50ms;
  int64_t before = cpu_time_ns(clock);
  while (std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(1ms);
    const int64_t now = cpu_time_ns(clock);
    if (now - before < 20'000) return true;  // under 2 % of a processor
    before = now;
  }
  return false;
}

Answer<TimedBlock> time_block(Worker& worker, const std::string& id, int settling, int calls, bool fingerprint,
                              std::chrono::milliseconds timeout) {
  const Json request{{"do", "time"}, {"id", id}, {"calls", settling + calls}, {"fingerprint", fingerprint}};
  Answer<Reply> reply = worker.ask(request, {}, timeout);
  if (!reply) return tl::unexpected(std::move(reply).error());
  wait_until_quiet(worker.pid());
  return read_fields("time", [&]() -> Answer<TimedBlock> {
    TimedBlock block{reply->json.at("times_us").get<std::vector<double>>(), reply->json.value("changed", int64_t{0})};
    if (block.times_us.size() != static_cast<size_t>(settling + calls))
      return nonsense("time", fmt::format("{} times for {} calls", block.times_us.size(), settling + calls));
    block.times_us.erase(block.times_us.begin(), block.times_us.begin() + settling);
    return block;
  });
}

namespace {

struct Side {
  Worker& worker;
  bench::Timing timing;
  int64_t changed = 0;
};

double noise_of(const Measured& measured) {
  return std::max(bench::summarize(measured.reference.trials_us).noise(), bench::summarize(measured.candidate.trials_us).noise());
}

Answer<Measured> measure_round(Worker& reference, Worker& candidate, const std::string& id, const MeasureOptions& options) {
  Side a{reference, {options.warmup, {}}, 0};
  Side b{candidate, {options.warmup, {}}, 0};
  // A B B A A B B A: neither side is always first, so drift of the machine falls on both.
  int done = 0;
  for (int block = 0; block < kBlocksPerSide; ++block) {
    const int calls = (options.trials - done) / (kBlocksPerSide - block);
    done += calls;
    if (calls == 0) continue;
    Side* const order[2] = {block % 2 == 0 ? &a : &b, block % 2 == 0 ? &b : &a};
    for (Side* side : order) {
      const bool fingerprint = side == &b;
      Answer<TimedBlock> timed = time_block(side->worker, id, kSettlingCalls, calls, fingerprint, options.timeout);
      if (!timed) return tl::unexpected(std::move(timed).error());
      side->changed += timed->changed;
      side->timing.trials_us.insert(side->timing.trials_us.end(), timed->times_us.begin(), timed->times_us.end());
    }
  }
  return Measured{std::move(a.timing), std::move(b.timing), 1, b.changed};
}

}  // namespace

Answer<Measured> measure(Worker& reference, Worker& candidate, const std::string& id, const MeasureOptions& options) {
  for (Worker* worker : {&reference, &candidate}) {
    if (options.warmup == 0) break;
    if (auto warm = time_block(*worker, id, 0, options.warmup, false, options.timeout); !warm)
      return tl::unexpected(std::move(warm).error());
  }
  Answer<Measured> best = measure_round(reference, candidate, id, options);
  while (best && best->rounds < kMaxRounds && noise_of(*best) > bench::kNoisy) {
    Answer<Measured> again = measure_round(reference, candidate, id, options);
    if (!again) return again;
    const int rounds = best->rounds + 1;
    const int64_t changed = best->changed_calls + again->changed_calls;
    if (noise_of(*again) < noise_of(*best)) best = std::move(again);
    best->rounds = rounds;
    best->changed_calls = changed;
  }
  return best;
}

}  // namespace passnet::run
