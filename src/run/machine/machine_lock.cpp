#include "run/machine/machine_lock.h"

#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/text/strings.h"

namespace passnet::run {

namespace {

using Clock = std::chrono::steady_clock;
// Between looks whether it is our turn: a twentieth of the time waited so far, within these.
constexpr std::chrono::milliseconds kShortestPoll{5}, kLongestPoll{50};
constexpr std::chrono::seconds kQuietTurn{10};  // most graphs take less
constexpr size_t kMostNamed = 3;                // holders in a message

std::string lock_name(const std::string& kind, int index) { return fmt::format("passnet-{}-{}", kind, index); }

/// "first", "second", … "tenth", "11th", "12th", "13th", "21st"
std::string ordinal(size_t place) {
  constexpr std::array kWords = {"first", "second",  "third",  "fourth", "fifth",
                                 "sixth", "seventh", "eighth", "ninth",  "tenth"};
  if (place >= 1 && place <= kWords.size()) return kWords[place - 1];
  const size_t last = place / 10 % 10 == 1 ? 0 : place % 10;
  return fmt::format("{}{}", place, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

}  // namespace

class MachineLease::FileLock {
 public:
  explicit FileLock(UniqueFd file) : file_(std::move(file)) {}
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  // Not by closing: a process that was forked meanwhile has the descriptor, too.
  ~FileLock() { ::flock(file_.get(), LOCK_UN); }

 private:
  UniqueFd file_;
};

/// One that waits.
class LeaseAttempt {
 public:
  LeaseAttempt(LockDirectory directory, const ThingsByKind& wanted, std::chrono::milliseconds patience)
      : directory_(std::move(directory)), wanted_(wanted), patience_(patience) {}

  Result<void> begin(const std::string& command) {
    PASSNET_TRY(ticket_, OwnTicket::publish(directory_, OwnTicket::State::Waits, command, wanted_));
    return {};
  }

  /// True: `lease` holds all that is wanted. Else why() says what it waits for.
  Result<bool> try_once(const std::string& command, MachineLease& lease) {
    PASSNET_TRY(queue_, read_queue(directory_));
    find_those_ahead();
    if (!ahead_.empty()) return false;
    PASSNET_TRY(const bool locked, lock_all(lease));
    if (!locked) return false;
    PASSNET_TRY(lease.ticket_, OwnTicket::publish(directory_, OwnTicket::State::Holds, command, lease.held_));
    return true;
  }

  /// From 1: how many are served before this one, and itself.
  size_t place() const { return ahead_.size() + 1; }

  /// "third, held by 'passnet author' (pid 4711, since 8 min)"
  std::string why() const {
    // Anew: who has it now has come to it since.
    const Result<LockQueue> queue = read_queue(directory_);
    const std::vector<std::string> holders = describe_holders(queue ? *queue : queue_);
    if (!holders.empty()) return fmt::format("{}, held by {}", ordinal(place()), join(holders, " and "));
    if (!ahead_.empty()) return fmt::format("{}, after {}", ordinal(place()), ahead_.front()->text());
    return fmt::format("{}, held by a process that cannot be seen from here (another container?)", ordinal(place()));
  }

 private:
  void find_those_ahead() {
    ahead_.clear();
    const Clock::time_point now = Clock::now();
    std::map<std::string, Clock::time_point> idle;
    for (const Ticket& one : queue_.waiting) {
      if (one.name >= ticket_.name()) break;
      if (!overlap(one.things, wanted_)) continue;
      if (ahead_.empty() && could_take(one.things)) {
        const auto since = idle_.find(one.name);
        const Clock::time_point first = since == idle_.end() ? now : since->second;
        idle.emplace(one.name, first);
        if (now - first > patience_) continue;
      }
      ahead_.push_back(&one);
    }
    idle_ = std::move(idle);
  }

  bool could_take(const ThingsByKind& things) const {
    return std::ranges::all_of(things, [&](const auto& kind) {
      size_t free = 0;
      for (const int index : kind.second.of) {
        if (free == kind.second.count) break;
        if (is_free(kind.first, index)) ++free;
      }
      return free >= kind.second.count;
    });
  }

  bool is_free(const std::string& kind, int index) const {
    const UniqueFd file = look_at_lock_file(directory_, lock_name(kind, index));
    if (!file) return true;
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return false;
    ::flock(file.get(), LOCK_UN);
    return true;
  }

  /// False: too few are free, and nothing stays locked: two that each hold a part would wait for ever.
  Result<bool> lock_all(MachineLease& lease) {
    MachineLease taken;
    for (const auto& [kind, things] : wanted_) {
      std::vector<int>& held = taken.held_[kind].of;
      for (const int index : things.of) {
        if (held.size() == things.count) break;
        PASSNET_TRY(UniqueFd file, open_lock_file(directory_, lock_name(kind, index)));
        PASSNET_TRY(const bool locked, lock(file, kind, index));
        if (!locked) continue;
        held.push_back(index);
        taken.locks_.push_back(std::make_shared<MachineLease::FileLock>(std::move(file)));
      }
      if (held.size() < things.count && held.size() < things.of.size()) return false;
      taken.held_[kind].count = held.size();
    }
    lease = std::move(taken);
    return true;
  }

  Result<bool> lock(const UniqueFd& file, const std::string& kind, int index) const {
    // Whoever looks whether it is free has it for a moment.
    for (int i = 0; i < 3; ++i) {
      if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return true;
      if (errno != EWOULDBLOCK)
        return resource_error(fmt::format("cannot lock '{}': {}", (directory_.path / lock_name(kind, index)).string(),
                                          std::strerror(errno)));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  std::vector<std::string> describe_holders(const LockQueue& queue) const {
    std::vector<std::string> all;
    for (const auto& [kind, things] : wanted_) {
      for (const int index : things.of) {
        std::string text = describe_holder(queue, kind, index);
        if (!text.empty() && all.size() < kMostNamed && std::ranges::find(all, text) == all.end())
          all.push_back(std::move(text));
      }
    }
    return all;
  }

  /// Empty: nobody has it, or it cannot be seen who. The system's word goes before that of a ticket, which any user can
  /// write.
  std::string describe_holder(const LockQueue& queue, const std::string& kind, int index) const {
    const UniqueFd file = look_at_lock_file(directory_, lock_name(kind, index));
    if (!file) return "";
    const int pid = locking_process(file);
    if (pid == 0 && is_free(kind, index)) return "";
    const ThingsByKind things{{kind, {{index}, 1}}};
    for (const std::vector<Ticket>* tickets : {&queue.holding, &queue.waiting}) {
      for (const Ticket& one : *tickets) {
        const bool is_it = pid == 0 ? tickets == &queue.holding : is_of(one, pid);
        if (is_it && one.name != ticket_.name() && overlap(one.things, things)) return one.text();
      }
    }
    return pid == 0 ? "" : describe_process(pid);
  }

  const LockDirectory directory_;
  const ThingsByKind wanted_;
  const std::chrono::milliseconds patience_;
  OwnTicket ticket_;
  LockQueue queue_;
  std::vector<const Ticket*> ahead_;               // in queue_
  std::map<std::string, Clock::time_point> idle_;  // tickets that could take what they want, since when
};

namespace {

Error over(const Waiting& waiting, const std::string& why) {
  if (*waiting.most_s == 0) {
    return resource_error("this machine is busy: " + why)
        .with_hint("without --wait 0 it waits for its turn; --wait SECONDS waits for so long");
  }
  return resource_error(fmt::format("waited {:g} s for this machine: {}", *waiting.most_s, why))
      .with_hint("--wait with more seconds; without it there is no limit");
}

}  // namespace

Result<MachineLease> MachineLease::take(const ThingsByKind& wanted, const Waiting& waiting) {
  PASSNET_TRY(LockDirectory directory, open_lock_directory());
  LeaseAttempt attempt(std::move(directory), wanted, waiting.patience);
  PASSNET_TRY_VOID(attempt.begin(waiting.command));
  const Clock::time_point begin = Clock::now();
  size_t told_place = 0;
  while (true) {
    MachineLease lease;
    PASSNET_TRY(const bool done, attempt.try_once(waiting.command, lease));
    if (done) return lease;
    if (waiting.most_s && std::chrono::duration<double>(Clock::now() - begin).count() >= *waiting.most_s)
      return over(waiting, attempt.why());
    if (waiting.told && attempt.place() != told_place && Clock::now() - begin >= waiting.quiet) {
      waiting.told(attempt.why());
      told_place = attempt.place();
    }
    if (waiting.interrupted && *waiting.interrupted) return resource_error("interrupted");
    std::this_thread::sleep_for(std::clamp<Clock::duration>((Clock::now() - begin) / 20, kShortestPoll, kLongestPoll));
  }
}

const std::vector<int>& MachineLease::held(const std::string& kind) const {
  static const std::vector<int> kNone;
  const auto found = held_.find(kind);
  return found == held_.end() ? kNone : found->second.of;
}

bool MachineLease::is_wanted() const {
  if (held_.empty()) return false;
  const Result<LockDirectory> directory = open_lock_directory();
  if (!directory) return false;
  const Result<LockQueue> queue = read_queue(*directory);
  return queue && std::ranges::any_of(queue->waiting, [&](const Ticket& one) { return overlap(one.things, held_); });
}

Result<void> MachineLease::give_turn(const Waiting& waiting) {
  if (!is_wanted()) return {};
  const ThingsByKind same = held_;
  *this = MachineLease();
  Waiting however_long = waiting;
  however_long.most_s.reset();
  however_long.quiet = kQuietTurn;
  PASSNET_TRY(*this, take(same, however_long));
  return {};
}

}  // namespace passnet::run
