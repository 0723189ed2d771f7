#include "run/measure/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <thread>

#include "base/processors.h"
#include "record/stats.h"
#include "record/verdict.h"
#include "run/measure/clock_audit.h"
#include "run/measure/thread_times.h"
#include "run/worker/ask.h"

namespace passnet::run {

using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

// Pairs of blocks: as many as make the interval of the ratio narrow, with blocks short enough that a disturbance hits
// both sides or none. On a GPU the host only launches and waits, and there are more tracks to time; of these the
// medians are shown, and nothing is judged by them.
constexpr int kPairs = 20, kGpuPairs = 10, kOtherTrackPairs = 4, kOtherTrackTrials = 40;
/// Of calls that take long there are fewer.
constexpr double kOtherTrackUs = 200'000;
constexpr int kMostAttempts = 8;  // times kPairs; then the graph is disturbed unless half of the pairs were not
// A thread waits some microseconds whenever it is woken, and milliseconds when another process has its processor.
constexpr std::chrono::nanoseconds kTolerableWait = 100us;
constexpr double kTolerableShare = 0.02;
constexpr double kLongCallUs = 5000;
/// Against this it is nothing to wake the threads and to fill the caches.
constexpr double kVeryLongCallUs = 10 * kLongCallUs;
/// What is handed over at once should take so long that handing it over is no part of it; and no more calls than that, as
/// each has inputs drawn and outputs compared.
constexpr double kHandedOverUs = 400;
constexpr int64_t kMostTogether = 32;
constexpr int kMorePlantedPairs = 9;  // of a track whose first pair is slow, before it counts
constexpr int kHandedOverPairs = 10;  // a reading is the mean of many calls there
/// What is left of the trials where they are bounded by time: each pair of blocks begins with calls that settle both sides. A
/// block of very long calls is one of them.
constexpr int kFewestTrials = 10, kFewestPairs = 5;

bool is_disturbed(const TimedBlock& block) {
  const auto tolerable = std::max(
      kTolerableWait,
      std::chrono::nanoseconds(static_cast<int64_t>(kTolerableShare * static_cast<double>(block.wall.count()))));
  return block.waited && *block.waited > tolerable;
}

/// What a side that rests may use of a processor: waking up to be stopped again. A thread that spins takes the whole of it.
constexpr std::chrono::nanoseconds kMostWhileResting = 1ms;
constexpr double kMostShareWhileResting = 0.05;
/// How long it may take to come to rest: its turn on a processor that other processes hold.
constexpr auto kMostUntilRest = 2s;

Error not_at_rest(const std::string& seen) {
  return resource_error(seen)
      .with_failure("not-at-rest")
      .with_hint("a kernel may leave nothing running when it returns");
}

/// A side that must use no processor while the other is timed. Its worker is stopped; what runs kernels sleeps, or it does
/// not.
class Resting {
 public:
  /// worker: may be null; then nothing is looked at. Errors: "not-at-rest": a thread goes on.
  static Result<Resting> await(const Worker* worker) {
    Resting resting;
    resting.worker_ = worker;
    if (worker == nullptr) return resting;
    const auto begin = Clock::now();
    while (true) {
      resting.before_ = read_thread_times(worker->pids());
      if (!resting.before_ || std::ranges::all_of(*resting.before_, &ThreadTime::rests)) return resting;
      if (Clock::now() - begin > kMostUntilRest) break;
      std::this_thread::sleep_for(20us);
    }
    return not_at_rest(
        fmt::format("a thread of the candidate still ran {} s after it was to rest, so that the reference "
                    "cannot be timed",
                    kMostUntilRest.count()));
  }
  /// wall: of what was timed meanwhile. Errors: "not-at-rest".
  Result<void> check(std::chrono::nanoseconds wall) const {
    if (!before_) return {};
    const auto after = read_thread_times(worker_->pids());
    if (!after) return {};
    const std::chrono::nanoseconds ran = ran_between(*before_, *after);
    const auto share = static_cast<int64_t>(kMostShareWhileResting * static_cast<double>(wall.count()));
    const auto most = std::max(kMostWhileResting, std::chrono::nanoseconds(share));
    if (ran <= most) return {};
    const auto ms = [](std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e6; };
    return not_at_rest(
        fmt::format("the candidate used {:.2f} ms of processor time while the reference was timed for "
                    "{:.2f} ms and it should rest; expected: at most {:.2f} ms",
                    ms(ran), ms(wall), ms(most)));
  }

 private:
  const Worker* worker_ = nullptr;
  std::optional<std::vector<ThreadTime>> before_;
};

/// A timed request, answered. alone: the worker is Stopped but for this. Its threads' times are read while it stands
/// still, so that what this process does for the measurement is not taken for a disturbance where it shares their
/// processors. Else graphs run on a GPU, where the first thread launches and waits, and the many others have nothing to
/// do with the calls. resting: the worker of the other side, if that runs foreign code; it must rest.
template <class Request>
struct Timed {
  protocol::Answer<Request> answer;
  TimedBlock block;  // with all times
};

const protocol::CallTimes& times_in(const protocol::CallTimes& reply) { return reply; }
const protocol::CallTimes& times_in(const protocol::TimeOnSets::Reply& reply) { return reply.times; }

template <class Request>
Result<Timed<Request>> ask_timed(const TimedGraph& graph, const Request& request, bool alone,
                                 std::chrono::milliseconds timeout, const Worker* resting = nullptr) {
  PASSNET_TRY(const Resting rest, Resting::await(alone ? resting : nullptr));
  const auto read_times = [&] {
    return alone ? read_thread_times(graph.worker.pids()) : read_first_thread_time(graph.worker.pid());
  };
  const Json json = protocol::to_json(request);
  const auto ours_before = read_own_thread_time();
  const auto before = read_times();
  Clock::time_point start, stop;
  Result<Reply> reply = [&] {
    const Turn turn(graph.worker, alone);
    start = Clock::now();
    Result<Reply> answered = graph.worker.ask(json, {}, timeout);
    stop = Clock::now();
    return answered;
  }();
  if (!reply) return std::move(reply).error();
  const auto after = read_times();
  const auto ours_after = read_own_thread_time();
  PASSNET_TRY_VOID(rest.check(stop - start));
  PASSNET_TRY(protocol::Answer<Request> answer, read_answer<Request>(std::move(*reply)));
  const protocol::CallTimes& times = times_in(answer.reply);
  TimedBlock block{times.times_us,
                   times.changed,
                   times.mode,
                   times.sm_mhz.value_or(0),
                   times.temperature_c.value_or(0),
                   stop - start,
                   {}};
  if (before && after && ours_before && ours_after) {
    // What this process does it does before the calls and after them.
    const auto for_us = ran_between(*ours_before, *ours_after);
    block.waited = std::max(std::chrono::nanoseconds(0), waited_for_others(*before, *after) - for_us);
  }
  if (!times.why_not_recorded.empty()) block.mode += ": " + times.why_not_recorded;
  return Timed<Request>{std::move(answer), std::move(block)};
}

Result<TimedBlock> time_one_block(const TimedGraph& graph, const BlockOptions& options, bool alone) {
  const int calls = options.settling + options.calls;
  const protocol::Time request{graph.id,
                               calls,
                               options.fingerprint,
                               options.settle_each,
                               options.track.clock,
                               options.track.inputs == "fresh",
                               options.track.cache == "flushed",
                               options.together};
  PASSNET_TRY(Timed<protocol::Time> timed, ask_timed(graph, request, alone, options.timeout));
  TimedBlock& block = timed.block;
  if (block.times_us.size() != static_cast<size_t>(calls))
    return nonsense("time", fmt::format("{} times for {} calls", block.times_us.size(), calls));
  block.times_us.erase(block.times_us.begin(), block.times_us.begin() + options.settling);
  return std::move(block);
}

}  // namespace

Result<TimedBlock> time_block(const TimedGraph& graph, const BlockOptions& options) {
  return time_one_block(graph, options, false);
}

Result<TimedBlock> time_block_alone(const TimedGraph& graph, const BlockOptions& options) {
  return time_one_block(graph, options, true);
}

namespace {
/// Sleeps until all threads of `worker` stand still. A stop reaches them one after the other, once the first of them gets
/// a processor: a helper that spins would go on beside whatever runs next, until the next tick of its processor.
void halt(Worker& worker) {
  constexpr auto kMostUntilStopped = 200ms;  // on a processor that others hold as well
  worker.pause();
  const auto begin = Clock::now();
  while (worker.alive() && !is_stopped(worker.pid()) && Clock::now() - begin < kMostUntilStopped)
    std::this_thread::sleep_for(10us);
}
}  // namespace

Stopped::Stopped(std::vector<Worker*> workers) : workers_(std::move(workers)) {
  for (Worker* worker : workers_) halt(*worker);
}
Stopped::~Stopped() {
  for (Worker* worker : workers_) worker->resume();
}

Turn::Turn(Worker& worker, bool alone) : worker_(worker), alone_(alone) {
  if (alone_) worker_.resume();
}
Turn::~Turn() {
  if (alone_) halt(worker_);
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

/// Untimed calls before a block of calls that usually take so long.
int settling_of(double usual_us) {
  return usual_us >= kVeryLongCallUs ? 0 : usual_us >= kLongCallUs ? 1 : kSettlingCalls;
}

/// How the blocks of one track are timed.
struct TrackPlan {
  record::Track track;
  int64_t together = 1;  // calls between two readings of the clock
  int pairs = kPairs;
  int trials = 100;
  double usual_us = 0;  // of a call of the slower side
  bool settle_each = false;
  bool on_gpu = false;
  std::chrono::milliseconds timeout{60000};

  /// Untimed calls before a block.
  int settling() const {
    if (settle_each) return kSettlingCalls;
    return on_gpu ? settling_of(usual_us) : 1;
  }
  /// Trials of pair `index`: they add up to `trials`.
  int calls_of(int index) const { return trials * (index + 1) / pairs - trials * index / pairs; }
};

Result<TimedBlock> time_turn(const TimedGraph& graph, const TrackPlan& plan, int calls) {
  const BlockOptions block{plan.settling(), calls, plan.settle_each, true, plan.track, plan.together, plan.timeout};
  // A GPU is idle once the worker has answered, and only one thread of the worker's had to do with it.
  return plan.on_gpu ? time_block(graph, block) : time_block_alone(graph, block);
}

/// The least time of a call of each side while warming up, in microseconds, as other processes disturb some; 0 without
/// warm-up.
struct Usual {
  double reference_us = 0, candidate_us = 0;
  bool few_trials = false;  // MeasureOptions::most_s allows no more

  double longer_us() const { return std::max(reference_us, candidate_us); }
};

/// Times block `index` of both sides. One that is disturbed stands alone: what would follow it is not timed.
using TimePair = std::function<Result<std::vector<TimedBlock>>(int index)>;
/// Keeps what both sides gave in it.
using KeepPair = std::function<void(int index, std::vector<TimedBlock> blocks)>;

void note_waiting(const TimedBlock& timed, record::Load& load) {
  if (!timed.waited) return;
  load.known = true;
  const double share =
      static_cast<double>(timed.waited->count()) / static_cast<double>(std::max<int64_t>(1, timed.wall.count()));
  load.waiting_share = std::max(load.waiting_share, std::min(1.0, share));
}

/// `pairs` pairs of blocks that are not disturbed. False: too few were to be had.
Result<bool> time_pairs(int pairs, const TimePair& time_pair, const KeepPair& keep, record::Load& load) {
  int kept = 0, dropped = 0;
  auto rest = 1ms;
  while (kept < pairs && kept + dropped < kMostAttempts * pairs) {
    // A B A B …: each block follows one of the other side, so both find the same caches. Pairs are short against any
    // drift.
    ++load.block_pairs;
    PASSNET_TRY(std::vector<TimedBlock> blocks, time_pair(kept));
    for (const TimedBlock& block : blocks) note_waiting(block, load);
    if (std::ranges::none_of(blocks, is_disturbed)) {
      keep(kept++, std::move(blocks));
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

KeepPair keep_in(Side& a, Side& b) {
  return [&a, &b](int, std::vector<TimedBlock> blocks) {
    a.keep(std::move(blocks[0]));
    b.keep(std::move(blocks[1]));
  };
}

/// All trials of one track on the tensors that are set, on both sides. False: too few pairs were undisturbed.
Result<bool> time_track(Side& a, Side& b, const TrackPlan& plan, record::Load& load) {
  TrackPlan fitted = plan;
  fitted.pairs = std::max(1, std::min(plan.pairs, plan.trials));
  const TimePair time_pair = [&](int index) -> Result<std::vector<TimedBlock>> {
    std::vector<TimedBlock> blocks;
    for (Side* side : {&a, &b}) {
      PASSNET_TRY(TimedBlock timed, time_turn(side->graph, fitted, fitted.calls_of(index)));
      side->changed += timed.changed;
      blocks.push_back(std::move(timed));
      if (is_disturbed(blocks.back())) break;
    }
    return blocks;
  };
  return time_pairs(fitted.pairs, time_pair, keep_in(a, b), load);
}

/// The trials that count.
class CountedTrials {
 public:
  CountedTrials(Side& reference, Side& candidate, const MeasureOptions& options, const Usual& usual)
      : a_(reference), b_(candidate), options_(options), usual_(usual) {}

  Result<bool> run(Measured& measured) {
    PASSNET_TRY_VOID(prepare());
    if (options_.warmup > 0) PASSNET_TRY_VOID(warm_up());
    measured.together = together_;
    PASSNET_TRY_VOID(choose_planted());
    const TimePair time_pair = [&](int index) { return pair(index, measured.checks); };
    const KeepPair keep = [&](int index, std::vector<TimedBlock> blocks) {
      const std::optional<size_t> track = track_of(index);
      if (!track) return keep_in(a_, b_)(index, std::move(blocks));
      Measured::Planted& planted = measured.planted[*track];
      std::ranges::copy(blocks[0].times_us, std::back_inserter(planted.reference_us));
      std::ranges::copy(blocks[1].times_us, std::back_inserter(planted.candidate_us));
    };
    PASSNET_TRY(bool undisturbed,
                time_pairs(pairs_ + static_cast<int>(planted_.size()), time_pair, keep, measured.load));
    for (size_t track = 0; track < kPlantedTracks.size() && undisturbed; ++track) {
      if (!looks_uneven(measured, track)) continue;
      planted_.clear();
      for (int index = 0; index < kMorePlantedPairs; ++index) planted_.emplace(index, track);
      PASSNET_TRY(undisturbed, time_pairs(kMorePlantedPairs, time_pair, keep, measured.load));
    }
    return undisturbed;
  }

 private:
  bool looks_uneven(const Measured& measured, size_t track) const {
    record::Timing reference = a_.timing, candidate = b_.timing;
    reference.others = {{kPlantedTracks[track], measured.planted[track].reference_us}};
    candidate.others = {{kPlantedTracks[track], measured.planted[track].candidate_us}};
    return record::is_uneven(reference, candidate);
  }
  bool alone() const { return !options_.on_gpu; }
  /// Returns a place in kPlantedTracks; none: the trials of this pair count.
  std::optional<size_t> track_of(int index) const {
    const auto planted = planted_.find(index);
    return planted != planted_.end() ? std::optional(planted->second) : std::nullopt;
  }

  /// Draws a pair for each of kPlantedTracks, so that no kernel knows it, unless the reference refuses such values.
  Result<void> choose_planted() {
    if (options_.planted.empty() || !options_.fresh_inputs || !b_.graph.puts_sets_together) return {};
    PASSNET_TRY_VOID(draw(together_));
    std::vector<size_t> tracks;
    for (size_t track = 0; track < kPlantedTracks.size(); ++track) {
      const Result<TimedOnSets> tried = time_side(a_, together_, track);
      if (tried)
        tracks.push_back(track);
      else if (tried.error().worker_lost)
        return tried.error();
    }
    std::mt19937_64 random(options_.seed);
    const uint64_t all = static_cast<uint64_t>(pairs_) + tracks.size();
    while (planted_.size() < tracks.size())
      planted_.try_emplace(static_cast<int>(random() % all), tracks[planted_.size()]);
    return {};
  }

  Result<void> prepare() {
    const int64_t at_once = std::clamp<int64_t>(b_.graph.calls_at_once, 1, kMostTogether);
    const bool hands_over = at_once > 1 && usual_.candidate_us > 0;
    const int pairs = usual_.few_trials ? kFewestPairs
                      : options_.on_gpu ? kGpuPairs
                      : hands_over      ? kHandedOverPairs
                                        : kPairs;
    pairs_ = std::max(1, std::min(pairs, options_.trials));
    const int64_t per_block = (options_.trials + pairs_ - 1) / pairs_;
    if (hands_over)
      together_ = std::min(std::max(per_block, static_cast<int64_t>(kHandedOverUs / usual_.candidate_us) + 1), at_once);
    const int64_t wanted = hands_over ? together_ : per_block;
    {
      const Turn turn(a_.graph.worker, alone());
      const bool whole = !b_.graph.puts_sets_together;
      PASSNET_TRY(sets_, make_call_sets(a_.graph.worker, a_.graph.id, wanted, options_.timeout, whole));
    }
    {
      const Turn turn(b_.graph.worker, alone());
      PASSNET_TRY_VOID(set_call_sets(b_.graph.worker, b_.graph.id, sets_, options_.timeout));
    }
    together_ = std::min(together_, sets_.sets);
    calls_ = std::min(wanted, sets_.sets);
    // Where memory allows fewer calls at a time, there are more blocks.
    pairs_ = static_cast<int>((pairs_ * wanted + calls_ - 1) / calls_);
    if (together_ == 1) pairs_ = std::min(pairs_, std::max(1, options_.trials));
    return {};
  }

  /// All blocks of calls that are handed over are alike; else they add up to the trials that were asked for.
  int64_t calls_of(int index) const {
    if (track_of(index)) return calls_;
    index -= static_cast<int>(std::distance(planted_.begin(), planted_.lower_bound(index)));
    const int64_t trials = options_.trials, share = trials * (index + 1) / pairs_ - trials * index / pairs_;
    return together_ > 1 ? calls_ : std::min(share, calls_);
  }

  /// The first calls in a row get the memory for what they all return, which later ones find.
  Result<void> warm_up() {
    PASSNET_TRY_VOID(draw(calls_of(0)));
    for (Side* side : {&a_, &b_}) PASSNET_TRY_VOID(time_side(*side, calls_of(0), std::nullopt));
    return {};
  }

  Result<std::vector<TimedBlock>> pair(int index, CallChecks& checks) {
    const int64_t calls = calls_of(index);
    PASSNET_TRY_VOID(draw(calls));
    const std::optional<size_t> track = track_of(index);
    std::vector<TimedBlock> blocks;
    for (Side* side : {&a_, &b_}) {
      PASSNET_TRY(TimedOnSets timed, time_side(*side, calls, track));
      blocks.push_back(std::move(timed.block));
      // Calls on wider values are not compared: eager's error is known for values as they were recorded.
      if (side == &b_ && !is_wider(track)) PASSNET_TRY_VOID(compare(timed.answer, checks));
      if (is_disturbed(blocks.back())) break;
    }
    return blocks;
  }

  Result<void> draw(int64_t calls) {
    const Turn turn(a_.graph.worker, alone());
    return renew_call_sets(a_.graph.worker, a_.graph.id, options_.seed + ++drawn_, calls, options_.timeout,
                           options_.fresh_inputs);
  }

  using TimedOnSets = Timed<protocol::TimeOnSets>;
  static bool is_wider(std::optional<size_t> track) { return track && kPlantedTracks[*track].inputs == record::kWider; }
  /// track: as track_of().
  Result<TimedOnSets> time_side(const Side& side, int64_t calls, std::optional<size_t> track) {
    const bool is_reference = &side == &a_;
    const int settling = settling_of(is_reference ? usual_.reference_us : usual_.candidate_us);
    protocol::TimeOnSets request{side.graph.id,         calls, together_, settling,    options_.seed + drawn_,
                                 options_.fresh_inputs, {},    false,     is_reference};
    if (track) request.planted = options_.planted;
    request.wider = is_wider(track);
    const Worker* const resting = is_reference ? &b_.graph.worker : nullptr;
    PASSNET_TRY(TimedOnSets timed, ask_timed(side.graph, request, alone(), options_.timeout, resting));
    const auto readings = static_cast<size_t>(calls / together_);
    if (timed.block.times_us.size() != readings)
      return nonsense("time_on_sets", fmt::format("{} times for {} readings", timed.block.times_us.size(), readings));
    return timed;
  }

  Result<void> compare(protocol::Answer<protocol::TimeOnSets>& answer, CallChecks& checks) {
    PASSNET_TRY(Bundle tensors, take_bundle("outputs", answer.reply.outputs, answer.fds));
    Outputs found{std::move(tensors), std::move(answer.reply.scalars)};
    found.rows_seed = answer.reply.rows_seed;
    const Turn turn(a_.graph.worker, alone());
    return compare_calls(a_.graph.worker, a_.graph.id, found, checks, options_.timeout);
  }

  Side &a_, &b_;
  const MeasureOptions& options_;
  const Usual usual_;
  CallSets sets_;
  int64_t together_ = 1;
  int64_t calls_ = 1;  // of a block
  int pairs_ = kPairs;
  std::map<int, size_t> planted_;  // places among pairs_ and these, with their track
  uint64_t drawn_ = 0;
};

/// As many of `calls` as take about most_s, but no fewer than `fewest`.
int fewer_calls(int calls, int fewest, double call_us, double most_s) {
  if (most_s <= 0 || calls <= fewest || calls * call_us <= 1e6 * most_s) return calls;
  return std::max(fewest, static_cast<int>(1e6 * most_s / call_us));
}

/// Warms both sides up. options: their calls become fewer where a bound is set that they would take longer than.
Result<Usual> warm_up(const TimedGraph& reference, const TimedGraph& candidate, const record::Track& track,
                      MeasureOptions& options) {
  constexpr double kShare = 0.25;  // of the bound, for warming up
  Usual usual;
  if (options.warmup == 0) return usual;
  const auto call = [&](const TimedGraph& graph, int calls) -> Result<double> {
    const BlockOptions block{0, calls, false, false, track, 1, options.timeout};
    PASSNET_TRY(const TimedBlock timed, options.on_gpu ? time_block(graph, block) : time_block_alone(graph, block));
    return std::ranges::min(timed.times_us);
  };
  const int wanted = options.warmup;
  for (const TimedGraph* graph : {&reference, &candidate}) {
    double& usual_us = graph == &reference ? usual.reference_us : usual.candidate_us;
    // With a bound the first call tells how many more there are.
    const int first = options.most_s > 0 ? 1 : wanted;
    PASSNET_TRY(usual_us, call(*graph, first));
    const int warmup = fewer_calls(wanted, first, usual_us, kShare * options.most_s);
    if (warmup > first) {
      PASSNET_TRY(const double later_us, call(*graph, warmup - first));
      usual_us = std::min(usual_us, later_us);
    }
    options.warmup = std::min(options.warmup, warmup);
  }
  const int fewest = usual.longer_us() > kVeryLongCallUs ? kFewestPairs : kFewestTrials;
  const int trials = fewer_calls(options.trials, fewest, usual.longer_us(), options.most_s);
  usual.few_trials = trials < options.trials && trials <= kFewestTrials;
  options.trials = trials;
  return usual;
}

void finish(Side& side, const MeasureOptions& options, const record::Track& track) {
  side.timing.warmup = options.warmup;
  side.timing.track = track;
  if (options.on_gpu) side.timing.mode = side.last.mode;
  side.timing.sm_mhz = side.last.sm_mhz;
  side.timing.temperature_c = side.last.temperature_c;
}

/// The same calls timed in other ways.
Result<void> time_other_tracks(const TimedGraph& reference, const TimedGraph& candidate, const MeasureOptions& options,
                               bool settle_each, Measured& measured) {
  const double call_us = std::max(record::summarize(measured.reference.trials_us).median,
                                  record::summarize(measured.candidate.trials_us).median);
  const int enough = std::max(kOtherTrackPairs, static_cast<int>(kOtherTrackUs / std::max(1.0, call_us)));
  auto tracks = options.on_gpu ? std::span<const record::Track>(kOtherGpuTracks)
                               : std::span<const record::Track>(kOtherCpuTracks);
  if (!options.other_tracks) tracks = tracks.first(1);
  for (const record::Track& track : tracks) {
    Side a{reference, {}, {}, 0}, b{candidate, {}, {}, 0};
    const TrackPlan plan{
        track,   measured.together, kOtherTrackPairs, std::min({options.trials, kOtherTrackTrials, enough}),
        call_us, settle_each,       options.on_gpu,   options.timeout};
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

/// Warms up, lets `time` take the trials of both sides, and notes what the machine did meanwhile. options: become those by
/// which was measured.
Result<Measured> measure_with(const TimedGraph& reference, const TimedGraph& candidate, MeasureOptions& options,
                              const record::Track& track,
                              const std::function<Result<bool>(Side&, Side&, const Usual&, Measured&)>& time) {
  std::optional<Stopped> stopped;
  if (!options.on_gpu) stopped.emplace(std::vector<Worker*>{&reference.worker, &candidate.worker});
  PASSNET_TRY(const Usual usual, warm_up(reference, candidate, {"host", "same", "warm"}, options));
  const Conditions before(reference.worker, candidate.worker);
  Side a{reference, {}, {}, 0}, b{candidate, {}, {}, 0};
  Measured measured;
  PASSNET_TRY(const bool enough, time(a, b, usual, measured));
  note_conditions(before, Conditions(reference.worker, candidate.worker), measured.load);
  measured.disturbed = !enough;
  measured.changed_calls = b.changed;
  finish(a, options, track);
  finish(b, options, track);
  measured.reference = std::move(a.timing);
  measured.candidate = std::move(b.timing);
  return measured;
}

Result<void> audit_both(const TimedGraph& reference, const TimedGraph& candidate, const MeasureOptions& options,
                        const Measured& measured) {
  // Calls on the same tensors may take less than on others, or more. The longer counts: what an answer of more numbers
  // takes is in our clock alone.
  const auto usual = [](const record::Timing& timing) {
    const double counted = record::summarize(timing.trials_us).median;
    return timing.others.empty() ? counted
                                 : std::max(counted, record::summarize(timing.others.front().trials_us).median);
  };
  const bool alone = !options.on_gpu;
  PASSNET_TRY_VOID(audit_clocks(reference, {"reference", usual(measured.reference), alone, options.timeout}));
  return audit_clocks(candidate, {"candidate", usual(measured.candidate), alone, options.timeout});
}

bool settles_each(const Usual& usual, const MeasureOptions& options) {
  return !options.on_gpu && usual.reference_us < kLongCallUs;
}

}  // namespace

Result<Measured> measure(const TimedGraph& reference, const TimedGraph& candidate, const MeasureOptions& wanted) {
  bool settle_each = false;
  MeasureOptions options = wanted;
  PASSNET_TRY(Measured measured, measure_with(reference, candidate, options, kTrack,
                                              [&](Side& a, Side& b, const Usual& usual, Measured& so_far) {
                                                settle_each = settles_each(usual, options);
                                                return CountedTrials(a, b, options, usual).run(so_far);
                                              }));
  std::optional<Stopped> stopped;
  if (!options.on_gpu) stopped.emplace(std::vector<Worker*>{&reference.worker, &candidate.worker});
  // Times that count for nothing need no clock that is right, and do not tell how many calls to read it over.
  const bool audits = options.audit_clocks && !measured.disturbed;
  if (options.other_tracks || audits)
    PASSNET_TRY_VOID(time_other_tracks(reference, candidate, options, settle_each, measured));
  if (audits) PASSNET_TRY_VOID(audit_both(reference, candidate, options, measured));
  for (size_t track = 0; track < kPlantedTracks.size(); ++track) {
    Measured::Planted& planted = measured.planted[track];
    if (planted.candidate_us.empty()) continue;
    measured.reference.others.push_back({kPlantedTracks[track], std::move(planted.reference_us)});
    measured.candidate.others.push_back({kPlantedTracks[track], std::move(planted.candidate_us)});
  }
  return measured;
}

Result<Measured> measure_on_same_inputs(const TimedGraph& reference, const TimedGraph& candidate,
                                        const MeasureOptions& wanted) {
  MeasureOptions options = wanted;
  const record::Track track{"host", options.on_gpu ? "fresh" : "same", "warm"};
  return measure_with(reference, candidate, options, track,
                      [&](Side& a, Side& b, const Usual& usual, Measured& measured) {
                        const TrackPlan plan{track,
                                             1,
                                             options.on_gpu ? kGpuPairs : kPairs,
                                             options.trials,
                                             usual.longer_us(),
                                             settles_each(usual, options),
                                             options.on_gpu,
                                             options.timeout};
                        return time_track(a, b, plan, measured.load);
                      });
}

}  // namespace passnet::run
