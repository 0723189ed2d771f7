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
                              std::chrono::milliseconds timeout, const bench::Track& track) {
  const Json request{{"do", "time"},          {"id", id},
                     {"calls", settling + calls}, {"fingerprint", fingerprint},
                     {"clock", track.clock},  {"fresh", track.inputs == "fresh"},
                     {"flush", track.cache == "flushed"}};
  Answer<Reply> reply = worker.ask(request, {}, timeout);
  if (!reply) return tl::unexpected(std::move(reply).error());
  // A GPU is idle once the worker has answered, and only one thread of the worker's had to do with it.
  if (track == bench::Track{}) wait_until_quiet(worker.pid());
  return read_fields("time", [&]() -> Answer<TimedBlock> {
    TimedBlock block{reply->json.at("times_us").get<std::vector<double>>(), reply->json.value("changed", int64_t{0}),
                     reply->json.value("mode", ""), reply->json.value("sm_mhz", 0), reply->json.value("temperature_c", 0)};
    if (block.times_us.size() != static_cast<size_t>(settling + calls))
      return nonsense("time", fmt::format("{} times for {} calls", block.times_us.size(), settling + calls));
    block.times_us.erase(block.times_us.begin(), block.times_us.begin() + settling);
    if (const std::string why = reply->json.value("why_not_recorded", ""); !why.empty()) block.mode += ": " + why;
    return block;
  });
}

namespace {

struct Side {
  Worker& worker;
  std::vector<double> times_us;
  int64_t changed = 0;
  TimedBlock last;
};

double noise_of(const Measured& measured) {
  return std::max(bench::summarize(measured.reference.trials_us).noise(), bench::summarize(measured.candidate.trials_us).noise());
}

// All trials of one track on both sides.
Answer<void> measure_track(Side& a, Side& b, const std::string& id, const MeasureOptions& options, const bench::Track& track) {
  // A B B A A B B A: neither side is always first, so drift of the machine falls on both.
  int done = 0;
  for (int block = 0; block < kBlocksPerSide; ++block) {
    const int calls = (options.trials - done) / (kBlocksPerSide - block);
    done += calls;
    if (calls == 0) continue;
    Side* const order[2] = {block % 2 == 0 ? &a : &b, block % 2 == 0 ? &b : &a};
    for (Side* side : order) {
      const bool fingerprint = side == &b;
      Answer<TimedBlock> timed = time_block(side->worker, id, kSettlingCalls, calls, fingerprint, options.timeout, track);
      if (!timed) return tl::unexpected(std::move(timed).error());
      side->changed += timed->changed;
      side->times_us.insert(side->times_us.end(), timed->times_us.begin(), timed->times_us.end());
      side->last = std::move(*timed);
    }
  }
  return {};
}

bench::Timing timing_of(Side& side, const MeasureOptions& options, const bench::Track& track) {
  return {options.warmup, std::move(side.times_us), track, {}, {}, side.last.sm_mhz, side.last.temperature_c};
}

bench::Track main_track(const MeasureOptions& options) { return options.on_gpu ? kGpuTrack : bench::Track{}; }

Answer<Measured> measure_round(Worker& reference, Worker& candidate, const std::string& id, const MeasureOptions& options) {
  Side a{reference, {}, 0, {}}, b{candidate, {}, 0, {}};
  const bench::Track track = main_track(options);
  if (auto done = measure_track(a, b, id, options, track); !done) return tl::unexpected(std::move(done).error());
  Measured measured{timing_of(a, options, track), timing_of(b, options, track), 1, b.changed};
  if (options.on_gpu) {
    measured.reference.mode = a.last.mode;
    measured.candidate.mode = b.last.mode;
  }
  return measured;
}

Answer<void> measure_other_tracks(Worker& reference, Worker& candidate, const std::string& id, const MeasureOptions& options,
                                  Measured& measured) {
  for (const bench::Track& track : kOtherGpuTracks) {
    Side a{reference, {}, 0, {}}, b{candidate, {}, 0, {}};
    if (auto done = measure_track(a, b, id, options, track); !done) return done;
    measured.reference.others.push_back({track, std::move(a.times_us)});
    measured.candidate.others.push_back({track, std::move(b.times_us)});
    measured.changed_calls += b.changed;
  }
  return {};
}

}  // namespace

Answer<Measured> measure(Worker& reference, Worker& candidate, const std::string& id, const MeasureOptions& options) {
  for (Worker* worker : {&reference, &candidate}) {
    if (options.warmup == 0) break;
    if (auto warm = time_block(*worker, id, 0, options.warmup, false, options.timeout, main_track(options)); !warm)
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
  if (best && options.on_gpu) {
    if (auto done = measure_other_tracks(reference, candidate, id, options, *best); !done)
      return tl::unexpected(std::move(done).error());
  }
  return best;
}

}  // namespace passnet::run
