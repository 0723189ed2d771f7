// A queue of items in a directory that several machines share: samples or models, each worked through once.
//
//   QUEUE/queue.json                what is done with an item, how long a lease is, how often an item is tried
//   QUEUE/items/HH/KEY              the item's text; never changes
//   QUEUE/todo/HH/KEY~N             another name of that file while the item waits for its try N; HH: a hash of KEY
//   QUEUE/claimed/KEY~N@WORKER      while a worker has it; its time of change is the worker's heartbeat
//   QUEUE/done|failed/HH/KEY~N@WORKER
//   QUEUE/work/KEY~N@WORKER/        what the worker writes
//   QUEUE/results/HH/KEY/           that, once it is whole
//
// Each change is one rename, which one of several workers wins, on NFS too: a rename whose answer was lost is known by
// the new name. Times are those of the file server, as a file tells that was just written: clocks of machines differ.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/file.h"
#include "base/json/json.h"
#include "base/result.h"
#include "cluster/work_queue.h"

namespace passnet::cluster {

inline constexpr const char* kQueueFile = "queue.json";

struct QueueItem {
  std::string key;   // its name in the queue: letters, digits, '.', '-', '_'
  std::string text;  // the argument
};

struct QueueStatus {
  struct Claimed {
    std::string key, worker;
    int number = 1;
    double silent_s = 0;  // since its heartbeat
    bool expired = false;
  };
  size_t items = 0, todo = 0, done = 0, failed = 0;
  bool draining = false;
  std::vector<Claimed> claimed;
  std::vector<std::string> failed_work;  // directories of failed tries, with log.txt
};

class Queue : public WorkQueue {
 public:
  /// Makes the queue, or opens the one there. Errors: BadInput: it has other rules; Io.
  static Result<Queue> create(const std::filesystem::path& path, const QueueRules& rules);
  /// worker: letters, digits, '.', '-', '_', nobody else's; empty: takes no items. Errors: BadInput: no queue; Io.
  static Result<Queue> open(const std::filesystem::path& path, const std::string& worker = {});

  /// Returns: how many of them are new. An item whose adding was cut short is completed.
  /// Errors: BadInput: another item has the key of one; Io.
  Result<size_t> add(const std::vector<QueueItem>& items);
  /// The next item; none: nobody waits. Errors: Io.
  Result<std::optional<Claim>> claim() { return claim_for(worker_); }
  Result<std::optional<Claim>> claim_for(const std::string& worker);
  Result<Turn> next(bool forever) override { return next_for(worker_, forever); }
  /// The same for a worker that a server speaks for. Errors: BadInput: no name of a worker.
  Result<Turn> next_for(const std::string& worker, bool forever);
  bool renew(const Claim& claim) const override;
  /// Gives each claim a heartbeat: a server that was away could take none. Errors: Io.
  Result<void> renew_all() const;
  Result<Settled> settle(const Claim& claim, Outcome outcome) override;
  /// A claim by its name, KEY~N@WORKER, whether it still holds or not. Errors: BadInput: no such name.
  Result<Claim> claim_named(const std::string& name) const;
  /// Gives an item another place: done, failed, or to be tried again. counted: as the next try; failed, where that was
  /// the last one. Returns: false when the lease was lost. Errors: Io.
  Result<bool> finish(const Claim& claim) const;
  Result<bool> fail(const Claim& claim) const;
  Result<bool> give_back(const Claim& claim, bool counted) const;
  /// Takes items from workers without a heartbeat. Returns: how many. Errors: Io.
  Result<size_t> expire() const;
  /// Lets failed items be tried again, from the first try on. Returns: how many. Errors: Io.
  Result<size_t> retry() const;
  /// Workers end after what they have, until this is false again. Errors: Io.
  Result<void> set_draining(bool draining) const;
  bool is_draining() const;
  Result<QueueStatus> status() const;
  bool has_claims() const;

  /// Directories of a claimed item: the one that its worker writes to, and the one of its finished result.
  std::filesystem::path work_of(const Claim& claim) const override;
  std::filesystem::path result_of(const std::string& key) const;
  /// Publishes the work as the result. Returns: false when there is one already. Errors: Io.
  Result<bool> publish(const Claim& claim) const;
  /// The results so far, sorted. Errors: Io.
  Result<std::vector<std::filesystem::path>> results() const;

  const QueueRules& rules() const override { return rules_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  Result<bool> move(const Claim& claim, const std::filesystem::path& to) const;
  Result<std::vector<QueueStatus::Claimed>> claimed() const;
  Result<double> server_time() const;
  Result<size_t> expire_in_turn() const;
  Result<void> list_bucket();

  std::filesystem::path path_;
  QueueRules rules_;
  std::string worker_;
  std::vector<std::string> waiting_;  // names of the bucket that was listed last, in the order in which they are tried
  size_t bucket_ = 0, listed_ = 0;    // the next bucket; how many were listed since one gave an item
};

/// The state of a queue, as `passnet queue status --json` prints it.
Json to_json(const QueueStatus& status);

/// Rules as they stand in queue.json. Errors: BadInput, at `where`.
Json to_json(const QueueRules& rules);
Result<QueueRules> parse_rules(std::string_view text, const std::string& where);

}  // namespace passnet::cluster
