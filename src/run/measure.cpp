#include "run/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>

#include "record/stats.h"
#include "run/thread_times.h"
#include "run/worker/requests.h"

namespace passnet::run {

using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

// Pairs of blocks: as many as make the interval of the ratio narrow, with blocks short enough that a disturbance hits
// both sides or none. On a GPU the host only launches and waits, and there are more tracks to time; of these the
// medians are shown, and nothing is judged by them.
constexpr int kPairs = 20, kGpuPairs = 10, kOtherTrackPairs = 4, kOtherTrackTrials = 40;
constexpr int kMostAttempts = 8;  // times kPairs; then the graph is disturbed unless half of the pairs were not
// A thread waits some microseconds whenever it is woken, and milliseconds when another process has its processor.
constexpr std::chrono::nanoseconds kTolerableWait = 100us;
constexpr double kTolerableShare = 0.02;
constexpr double kLongCallUs = 5000;

bool is_disturbed(const TimedBlock& block) {
  const auto tolerable = std::max(
      kTolerableWait,
      std::chrono::nanoseconds(static_cast<int64_t>(kTolerableShare * static_cast<double>(block.wall.count()))));
  return block.waited && *block.waited > tolerable;
}

// alone: the worker is Stopped but for this block. Its threads' times are read while it stands still, so that what this
// process does for the measurement is not taken for a disturbance where it shares their processors. Else graphs run on
// a GPU, where the first thread launches and waits, and the many others have nothing to do with the calls.
Result<TimedBlock> time_one_block(const TimedGraph& graph, const BlockOptions& options, bool alone) {
  const int calls = options.settling + options.calls;
  const Json request{{"do", "time"},
                     {"id", graph.id},
                     {"calls", calls},
                     {"settle", options.settle_each},
                     {"fingerprint", options.fingerprint},
                     {"clock", options.track.clock},
                     {"fresh", options.track.inputs == "fresh"},
                     {"flush", options.track.cache == "flushed"}};
  const auto read_times = alone ? read_thread_times : read_first_thread_time;
  const auto before = read_times(graph.worker.pid());
  if (alone) graph.worker.resume();
  const auto start = Clock::now();
  Result<Reply> reply = graph.worker.ask(request, {}, options.timeout);
  const auto stop = Clock::now();
  if (alone) graph.worker.pause();
  if (!reply) return std::move(reply).error();
  const auto after = read_times(graph.worker.pid());
  return read_fields("time", [&]() -> Result<TimedBlock> {
    TimedBlock block{reply->json.at("times_us").get<std::vector<double>>(),
                     reply->json.value("changed", int64_t{0}),
                     reply->json.value("mode", ""),
                     reply->json.value("sm_mhz", 0),
                     reply->json.value("temperature_c", 0),
                     stop - start,
                     {}};
    if (block.times_us.size() != static_cast<size_t>(calls))
      return nonsense("time", fmt::format("{} times for {} calls", block.times_us.size(), calls));
    block.times_us.erase(block.times_us.begin(), block.times_us.begin() + options.settling);
    if (before && after) block.waited = waited_for_others(*before, *after);
    if (const std::string why = reply->json.value("why_not_recorded", ""); !why.empty()) block.mode += ": " + why;
    return block;
  });
}

}  // namespace

Result<TimedBlock> time_block(const TimedGraph& graph, const BlockOptions& options) {
  return time_one_block(graph, options, false);
}

Result<TimedBlock> time_block_alone(const TimedGraph& graph, const BlockOptions& options) {
  return time_one_block(graph, options, true);
}

Stopped::Stopped(std::vector<Worker*> workers) : workers_(std::move(workers)) {
  for (Worker* worker : workers_) worker->pause();
}
Stopped::~Stopped() {
  for (Worker* worker : workers_) worker->resume();
}

namespace {

/// What is measured of one side: kept trials, and the last block for its conditions.
struct Side {
  TimedGraph graph;
  record::Timing timing;
  TimedBlock last;
  int64_t changed = 0;

  void keep(TimedBlock block) {
    timing.trials_us.insert(timing.trials_us.end(), block.times_us.begin(), block.times_us.end());
    timing.blocks.push_back(static_cast<int>(block.times_us.size()));
    last = std::move(block);
  }
};

/// How the blocks of one track are timed.
struct TrackPlan {
  record::Track track;
  int pairs = kPairs;
  int trials = 100;
  bool settle_each = false;
  bool on_gpu = false;
  std::chrono::milliseconds timeout{60000};

  /// Trials of pair `index`: they add up to `trials`.
  int calls_of(int index) const { return trials * (index + 1) / pairs - trials * index / pairs; }
};

Result<TimedBlock> time_turn(const TimedGraph& graph, const TrackPlan& plan, int calls) {
  const BlockOptions block{
      plan.settle_each || plan.on_gpu ? kSettlingCalls : 1, calls, plan.settle_each, true, plan.track, plan.timeout};
  // A GPU is idle once the worker has answered, and only one thread of the worker's had to do with it.
  return plan.on_gpu ? time_block(graph, block) : time_block_alone(graph, block);
}

/// One pair of blocks, each side once; false: disturbed, and nothing of it is kept.
Result<bool> time_pair(Side& first, Side& second, const TrackPlan& plan, int calls, record::Load& load) {
  std::array<TimedBlock, 2> blocks;
  std::array<Side*, 2> sides{&first, &second};
  ++load.block_pairs;
  bool disturbed = false;
  for (size_t i = 0; i < 2 && !disturbed; ++i) {
    TimedBlock& timed = blocks[i];
    PASSNET_TRY(timed, time_turn(sides[i]->graph, plan, calls));
    sides[i]->changed += timed.changed;
    if (timed.waited) {
      load.known = true;
      const double share =
          static_cast<double>(timed.waited->count()) / static_cast<double>(std::max<int64_t>(1, timed.wall.count()));
      load.waiting_share = std::max(load.waiting_share, std::min(1.0, share));
    }
    disturbed = is_disturbed(timed);
  }
  if (disturbed) return false;
  for (size_t i = 0; i < 2; ++i) sides[i]->keep(std::move(blocks[i]));
  return true;
}

/// All trials of one track on both sides. False: too few pairs were undisturbed.
Result<bool> time_track(Side& a, Side& b, const TrackPlan& plan, record::Load& load) {
  const int pairs = std::max(1, std::min(plan.pairs, plan.trials));
  TrackPlan fitted = plan;
  fitted.pairs = pairs;
  int kept = 0, dropped = 0;
  auto rest = 1ms;
  while (kept < pairs && kept + dropped < kMostAttempts * pairs) {
    // A B A B …: each block follows one of the other side, so both find the same caches. Pairs are short against any
    // drift.
    PASSNET_TRY(const bool undisturbed, time_pair(a, b, fitted, fitted.calls_of(kept), load));
    if (undisturbed) {
      ++kept;
      rest = 1ms;
      continue;
    }
    ++dropped;
    ++load.dropped_pairs;
    // Whoever holds the processor gets its turn now; a scheduler that is fair then gives us ours.
    std::this_thread::sleep_for(rest);
    rest = std::min(2 * rest, std::chrono::milliseconds(16ms));
  }
  return 2 * kept >= pairs;
}

/// Warms both sides up. Returns the median of the reference's calls in microseconds; 0 without warm-up.
Result<double> warm_up(const TimedGraph& reference, const TimedGraph& candidate, const MeasureOptions& options,
                       const record::Track& track) {
  double median_us = 0;
  for (const TimedGraph* graph : {&reference, &candidate}) {
    if (options.warmup == 0) break;
    const BlockOptions block{0, options.warmup, false, false, track, options.timeout};
    PASSNET_TRY(const TimedBlock timed, options.on_gpu ? time_block(*graph, block) : time_block_alone(*graph, block));
    if (graph == &reference) median_us = record::summarize(timed.times_us).median;
  }
  return median_us;
}

void finish(Side& side, const MeasureOptions& options, const record::Track& track) {
  side.timing.warmup = options.warmup;
  side.timing.track = track;
  if (options.on_gpu) side.timing.mode = side.last.mode;
  side.timing.sm_mhz = side.last.sm_mhz;
  side.timing.temperature_c = side.last.temperature_c;
}

/// The same calls timed in the other ways that a GPU allows.
Result<void> time_other_tracks(const TimedGraph& reference, const TimedGraph& candidate, const MeasureOptions& options,
                               Measured& measured) {
  for (const record::Track& track : kOtherGpuTracks) {
    Side a{reference, {}, {}, 0}, b{candidate, {}, {}, 0};
    const TrackPlan plan{track, kOtherTrackPairs, std::min(options.trials, kOtherTrackTrials), false,
                         true,  options.timeout};
    PASSNET_TRY_VOID(time_track(a, b, plan, measured.load));
    measured.reference.others.push_back({track, std::move(a.timing.trials_us)});
    measured.candidate.others.push_back({track, std::move(b.timing.trials_us)});
    measured.changed_calls += b.changed;
  }
  return {};
}

/// What the machine did between two moments.
struct Conditions {
  Clock::time_point at = Clock::now();
  MachineTimes machine = read_machine_times();
  int64_t switches = 0;

  Conditions(const Worker& a, const Worker& b)
      : switches(read_involuntary_switches(a.pid()) + read_involuntary_switches(b.pid())) {}
};

void note_conditions(const Conditions& before, const Conditions& after, record::Load& load) {
  const double wall_us = std::max(1.0, std::chrono::duration<double, std::micro>(after.at - before.at).count());
  const double processors = static_cast<double>(std::max<size_t>(1, available_processors().size()));
  load.pressure_share =
      std::min(1.0, static_cast<double>(after.machine.pressure_us - before.machine.pressure_us) / wall_us);
  load.stolen_share =
      1000 * static_cast<double>(after.machine.stolen_ms - before.machine.stolen_ms) / wall_us / processors;
  load.involuntary_switches = std::max<int64_t>(0, after.switches - before.switches);
}

}  // namespace

Result<Measured> measure(const TimedGraph& reference, const TimedGraph& candidate, const MeasureOptions& options) {
  const record::Track track = options.on_gpu ? kGpuTrack : record::Track{};
  std::optional<Stopped> stopped;
  if (!options.on_gpu) stopped.emplace(std::vector<Worker*>{&reference.worker, &candidate.worker});
  PASSNET_TRY(const double usual_us, warm_up(reference, candidate, options, track));

  const Conditions before(reference.worker, candidate.worker);
  Side a{reference, {}, {}, 0}, b{candidate, {}, {}, 0};
  Measured measured;
  const TrackPlan plan{track,          options.on_gpu ? kGpuPairs : kPairs,
                       options.trials, !options.on_gpu && usual_us < kLongCallUs,
                       options.on_gpu, options.timeout};
  PASSNET_TRY(const bool enough, time_track(a, b, plan, measured.load));
  note_conditions(before, Conditions(reference.worker, candidate.worker), measured.load);

  measured.disturbed = !enough;
  measured.changed_calls = b.changed;
  finish(a, options, track);
  finish(b, options, track);
  measured.reference = std::move(a.timing);
  measured.candidate = std::move(b.timing);
  if (options.on_gpu) PASSNET_TRY_VOID(time_other_tracks(reference, candidate, options, measured));
  return measured;
}

}  // namespace passnet::run
