#include "cluster/queue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/file/paths.h"
#include "base/hash.h"
#include "base/json/json_object.h"
#include "base/text/strings.h"
#include "cluster/queue_names.h"

namespace passnet {

PASSNET_JSON_FIELDS(cluster::QueueRules, "queue.json", PASSNET_FIELDS(command, lease_s, tries))

}  // namespace passnet

namespace passnet::cluster {

namespace {

constexpr size_t kBuckets = 64;
constexpr const char* kDraining = "draining";

std::string bucket_name(size_t bucket) { return fmt::format("{:02x}", bucket); }
std::string bucket_of(std::string_view key) { return bucket_name(fast_hash(key.data(), key.size()) % kBuckets); }

std::string waiting_name(const std::string& key, int number) { return fmt::format("{}~{}", key, number); }

// Names in a directory; none where there is no such directory.
Result<std::vector<std::string>> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code failed;
  fs::directory_iterator entry(directory, failed);
  for (; !failed && entry != fs::directory_iterator(); entry.increment(failed))
    names.push_back(entry->path().filename().string());
  if (failed && failed != std::errc::no_such_file_or_directory)
    return io_error("read", directory.string(), failed.value());
  return names;
}

Result<void> make_states(const fs::path& queue) {
  for (const char* state : {"items", "todo", "done", "failed", "results"}) {
    for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
      PASSNET_TRY_VOID(make_directories(queue / state / bucket_name(bucket)));
    }
  }
  for (const char* place : {"claimed", "work", "workers"}) {
    PASSNET_TRY_VOID(make_directories(queue / place));
  }
  return {};
}

Result<QueueRules> load_rules(const fs::path& queue) {
  PASSNET_TRY(const std::string text, read_beneath(queue, kQueueFile, FileKind::Settings));
  return parse_rules(text, (queue / kQueueFile).string());
}

// The server's time of change of a file, in seconds; opening it asks the server. None: it is gone.
std::optional<double> time_of(const fs::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat found {};
  if (!fd || ::fstat(fd.get(), &found) != 0) return std::nullopt;
  return static_cast<double>(found.st_mtim.tv_sec) + 1e-9 * static_cast<double>(found.st_mtim.tv_nsec);
}

// The server sets the time. Returns: false when the file is gone.
bool touch(const fs::path& file) { return ::utimensat(AT_FDCWD, file.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0; }

// Returns: false when `from` is gone, and was not moved by this very call.
Result<bool> rename_once(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return true;
  // A server that answered twice says the second time that there was nothing to move.
  if (errno == ENOENT) return entry_exists(to);
  return io_error("rename to", to.string(), errno);
}

}  // namespace

Json to_json(const QueueRules& rules) { return to_json_object(rules); }

Result<QueueRules> parse_rules(std::string_view text, const std::string& where) {
  PASSNET_TRY(const Json json, parse_json(text, where));
  return from_json_object<QueueRules>(json);
}

Result<Queue> Queue::create(const fs::path& path, const QueueRules& rules) {
  if (!entry_exists(path / kQueueFile)) {
    PASSNET_TRY_VOID(make_states(path));
    PASSNET_TRY_VOID(write_file(path / kQueueFile, std::string_view(dump(to_json(rules), 2) + "\n")));
  }
  PASSNET_TRY(Queue queue, open(path));
  if (queue.rules_ == rules) return queue;
  return bad_input(fmt::format("'{}' has other rules: found {}, expected {}", (path / kQueueFile).string(),
                               dump(to_json(queue.rules_)), dump(to_json(rules))))
      .with_hint("give another QUEUE, or the command and options that stand there");
}

Result<Queue> Queue::open(const fs::path& path, const std::string& worker) {
  if (!entry_exists(path / kQueueFile))
    return bad_input(fmt::format("no {} in '{}', expected a queue", kQueueFile, path.string()))
        .with_hint("'passnet queue add' makes one");
  Queue queue;
  PASSNET_TRY(queue.rules_, load_rules(path));
  queue.path_ = absolute_path(path);
  queue.worker_ = worker;
  queue.bucket_ = fast_hash(worker.data(), worker.size()) % kBuckets;
  return queue;
}

Result<size_t> Queue::add(const std::vector<QueueItem>& items) {
  const fs::path made = path_ / "work" / fmt::format(".item-{}", new_worker_name());
  size_t added = 0;
  for (const QueueItem& item : items) {
    const std::string bucket = bucket_of(item.key);
    const fs::path file = path_ / "items" / bucket / item.key;
    PASSNET_TRY_VOID(write_file(made, std::string_view(item.text)));
    const bool is_new = ::link(made.c_str(), file.c_str()) == 0;
    if (!is_new && errno != EEXIST) return io_error("create", file.string(), errno);
    ::unlink(made.c_str());
    if (!is_new) {
      PASSNET_TRY(const std::string other, read_beneath(path_, fs::path("items") / bucket / item.key, FileKind::Line));
      if (other != item.text)
        return bad_input(fmt::format("{} and {} have the same name in the queue, {}", quoted(item.text, 200),
                                     quoted(other, 200), quoted(item.key)))
            .with_hint("put them into two queues");
    }
    // The item's one other name is its state; an `add` that was killed may have left it without.
    struct stat found {};
    if (::stat(file.c_str(), &found) != 0) return io_error("read", file.string(), errno);
    if (found.st_nlink > 1) continue;
    const fs::path todo = path_ / "todo" / bucket / waiting_name(item.key, 1);
    if (::link(file.c_str(), todo.c_str()) != 0 && errno != EEXIST) return io_error("create", todo.string(), errno);
    ++added;
  }
  return added;
}

// Each worker goes through the names in an order of its own, so that few try the same.
Result<void> Queue::list_bucket() {
  PASSNET_TRY(waiting_, names_in(path_ / "todo" / bucket_name(bucket_)));
  const auto rank = [&](const std::string& name) {
    return fast_hash(name.data(), name.size(), fast_hash(worker_.data(), worker_.size()));
  };
  std::ranges::sort(waiting_, {}, rank);
  for (std::string& name : waiting_) name = bucket_name(bucket_) + "/" + name;
  bucket_ = (bucket_ + 1) % kBuckets;
  ++listed_;
  return {};
}

Result<std::optional<Claim>> Queue::claim_for(const std::string& worker) {
  for (listed_ = 0; !waiting_.empty() || listed_ < kBuckets;) {
    if (waiting_.empty()) {
      PASSNET_TRY_VOID(list_bucket());
      continue;
    }
    const fs::path name = waiting_.back();
    waiting_.pop_back();
    const std::optional<StateName> state = parse_state_name(name.filename().string());
    const fs::path from = path_ / "todo" / name;
    // The heartbeat comes before the claim: an old one would be taken for that of a lost worker.
    if (!state || !touch(from)) continue;
    Claim claim{state->key, {}, state->number, path_ / "claimed" / (name.filename().string() + "@" + worker)};
    PASSNET_TRY(const bool mine, rename_once(from, claim.file));
    if (!mine) continue;
    PASSNET_TRY(claim.text, read_beneath(path_ / "items" / bucket_of(claim.key), claim.key, FileKind::Line));
    claim.has_result = entry_exists(result_of(claim.key));
    return std::optional(std::move(claim));
  }
  return std::optional<Claim>();
}

Result<Turn> Queue::next_for(const std::string& worker, bool forever) {
  if (!is_plain_name(worker)) return bad_input(fmt::format("{} is no name of a worker", quoted(worker)));
  while (!is_draining()) {
    PASSNET_TRY(std::optional<Claim> claim, claim_for(worker));
    if (claim) return Turn{std::move(claim)};
    PASSNET_TRY(const size_t expired, expire_in_turn());
    if (expired == 0) return Turn{{}, !forever && !has_claims()};
  }
  return Turn{{}, true};
}

Result<Claim> Queue::claim_named(const std::string& name) const {
  const std::optional<StateName> state = parse_state_name(name);
  if (!state || state->number < 1 || !is_plain_name(state->key) || !is_plain_name(state->worker))
    return bad_input(fmt::format("{} is no name of a claim", quoted(name)));
  return Claim{state->key, {}, state->number, path_ / "claimed" / name};
}

bool Queue::renew(const Claim& claim) const { return touch(claim.file); }

Result<void> Queue::renew_all() const {
  PASSNET_TRY(const std::vector<std::string> names, names_in(path_ / "claimed"));
  for (const std::string& name : names) touch(path_ / "claimed" / name);
  return {};
}

Result<Settled> Queue::settle(const Claim& claim, Outcome outcome) {
  Settled settled;
  switch (outcome) {
    case Outcome::Done: {
      PASSNET_TRY(settled.published, publish(claim));
      PASSNET_TRY(settled.held, finish(claim));
      break;
    }
    case Outcome::Failed: {
      PASSNET_TRY(settled.held, fail(claim));
      settled.work = work_of(claim).string();
      break;
    }
    case Outcome::Again:
    case Outcome::Back: {
      PASSNET_TRY(settled.held, give_back(claim, outcome == Outcome::Again));
      break;
    }
  }
  return settled;
}

Result<bool> Queue::move(const Claim& claim, const fs::path& to) const { return rename_once(claim.file, to); }

Result<bool> Queue::finish(const Claim& claim) const {
  return move(claim, path_ / "done" / bucket_of(claim.key) / claim.file.filename());
}

Result<bool> Queue::fail(const Claim& claim) const {
  return move(claim, path_ / "failed" / bucket_of(claim.key) / claim.file.filename());
}

Result<bool> Queue::give_back(const Claim& claim, bool counted) const {
  if (counted && claim.number >= rules_.tries) return fail(claim);
  return move(claim, path_ / "todo" / bucket_of(claim.key) / waiting_name(claim.key, claim.number + (counted ? 1 : 0)));
}

Result<double> Queue::server_time() const {
  const fs::path file = path_ / "workers" / (worker_.empty() ? new_worker_name() : worker_);
  PASSNET_TRY_VOID(write_file(file, std::string_view()));
  const std::optional<double> now = time_of(file);
  if (worker_.empty()) ::unlink(file.c_str());
  if (!now) return io_error("read the time of", file.string(), ENOENT);
  return *now;
}

Result<size_t> Queue::expire() const {
  PASSNET_TRY(const std::vector<QueueStatus::Claimed> claims, claimed());
  size_t expired = 0;
  for (const QueueStatus::Claimed& one : claims) {
    if (!one.expired) continue;
    const std::string name = fmt::format("{}@{}", waiting_name(one.key, one.number), one.worker);
    PASSNET_TRY(const bool mine, give_back({one.key, {}, one.number, path_ / "claimed" / name}, true));
    expired += mine;
  }
  return expired;
}

// One worker in a quarter of a lease looks for lost ones. A thousand that wait for the last items would each open a
// thousand files at each look.
Result<size_t> Queue::expire_in_turn() const {
  const fs::path mark = path_ / "workers" / ".expired";
  PASSNET_TRY(const double now, server_time());
  const std::optional<double> last = time_of(mark);
  if (last && now >= *last && now - *last < rules_.lease_s / 4) return 0;
  PASSNET_TRY_VOID(write_file(mark, std::string_view()));
  return expire();
}

Result<size_t> Queue::retry() const {
  size_t retried = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    const fs::path failed = path_ / "failed" / bucket_name(bucket);
    PASSNET_TRY(const std::vector<std::string> names, names_in(failed));
    for (const std::string& name : names) {
      const std::optional<StateName> state = parse_state_name(name);
      if (!state) continue;
      PASSNET_TRY(const bool moved,
                  rename_once(failed / name, path_ / "todo" / bucket_name(bucket) / waiting_name(state->key, 1)));
      retried += moved;
    }
  }
  return retried;
}

Result<void> Queue::set_draining(bool draining) const {
  if (draining) return write_file(path_ / kDraining, std::string_view());
  if (::unlink((path_ / kDraining).c_str()) != 0 && errno != ENOENT)
    return io_error("remove", (path_ / kDraining).string(), errno);
  return {};
}

bool Queue::is_draining() const { return entry_exists(path_ / kDraining); }

Result<std::vector<QueueStatus::Claimed>> Queue::claimed() const {
  std::vector<QueueStatus::Claimed> found;
  PASSNET_TRY(const std::vector<std::string> names, names_in(path_ / "claimed"));
  if (names.empty()) return found;
  PASSNET_TRY(const double now, server_time());
  for (const std::string& name : names) {
    const std::optional<StateName> state = parse_state_name(name);
    const std::optional<double> beat = time_of(path_ / "claimed" / name);
    if (!state || !beat) continue;
    const double silent_s = std::max(0.0, now - *beat);
    found.push_back({state->key, state->worker, state->number, silent_s, silent_s > rules_.lease_s});
  }
  return found;
}

Result<QueueStatus> Queue::status() const {
  QueueStatus found;
  found.draining = is_draining();
  PASSNET_TRY(found.claimed, claimed());
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    const std::string place = bucket_name(bucket);
    PASSNET_TRY(const std::vector<std::string> items, names_in(path_ / "items" / place));
    PASSNET_TRY(const std::vector<std::string> todo, names_in(path_ / "todo" / place));
    PASSNET_TRY(const std::vector<std::string> done, names_in(path_ / "done" / place));
    PASSNET_TRY(const std::vector<std::string> failed, names_in(path_ / "failed" / place));
    found.items += items.size();
    found.todo += todo.size();
    found.done += done.size();
    found.failed += failed.size();
    for (const std::string& name : failed) found.failed_work.push_back((path_ / "work" / name).string());
  }
  return found;
}

Json to_json(const QueueStatus& status) {
  Json claimed = Json::array();
  for (const auto& one : status.claimed)
    claimed.push_back({{"item", one.key},
                       {"worker", one.worker},
                       {"try", one.number},
                       {"silent_s", one.silent_s},
                       {"expired", one.expired}});
  return {{"items", status.items},
          {"waiting", status.todo},
          {"done", status.done},
          {"failed", status.failed},
          {"draining", status.draining},
          {"claimed", std::move(claimed)},
          {"failed_work", status.failed_work}};
}

bool Queue::has_claims() const {
  const Result<std::vector<std::string>> names = names_in(path_ / "claimed");
  return names && !names->empty();
}

fs::path Queue::work_of(const Claim& claim) const { return path_ / "work" / claim.file.filename(); }

fs::path Queue::result_of(const std::string& key) const { return path_ / "results" / bucket_of(key) / key; }

Result<bool> Queue::publish(const Claim& claim) const {
  const fs::path work = work_of(claim), result = result_of(claim.key);
  if (::rename(work.c_str(), result.c_str()) == 0) return true;
  if (errno == ENOTEMPTY || errno == EEXIST) return false;
  if (errno == ENOENT && entry_exists(result)) return true;
  return io_error("rename to", result.string(), errno);
}

Result<std::vector<fs::path>> Queue::results() const {
  std::vector<fs::path> found;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    const fs::path place = path_ / "results" / bucket_name(bucket);
    PASSNET_TRY(const std::vector<std::string> names, names_in(place));
    for (const std::string& name : names) found.push_back(place / name);
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace passnet::cluster
