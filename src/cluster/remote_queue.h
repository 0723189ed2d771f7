// A queue of another machine, asked over HTTP (queue_server.h). A server that goes away is waited for.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/file/temporary_directory.h"
#include "base/json/json.h"
#include "cluster/work_queue.h"

namespace passnet::cluster {

/// "http://HOST:PORT" or "https://…", where QUEUE may be a directory, too.
bool is_url(std::string_view text);

struct RemoteOptions {
  std::string url, token;  // no token: none is sent
  std::string worker;      // a name that Queue::open takes
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const std::string& why)> waiting;  // called when the server is waited for; may be empty
};

class RemoteQueue : public WorkQueue {
 public:
  /// Asks the server for its rules. Errors: as ask().
  static Result<std::unique_ptr<RemoteQueue>> open(RemoteOptions options);

  const QueueRules& rules() const override { return rules_; }
  Result<Turn> next(bool forever) override;
  /// Returns: true, too, when the server does not answer: its leases wait for it.
  bool renew(const Claim& claim) const override;
  std::filesystem::path work_of(const Claim& claim) const override;
  /// Sends the files of a try that is done or failed, and removes them here.
  Result<Settled> settle(const Claim& claim, Outcome outcome) override;

 private:
  RemoteQueue(RemoteOptions options, TemporaryDirectory directory);
  /// Asks until it is answered. Errors: Resource: interrupted, or refused (a wrong token); BadInput: no URL, no queue there.
  Result<Json> ask(const std::string& path, const std::string& body) const;
  /// Once, without waiting.
  Result<Json> ask_once(const std::string& path, const std::string& body) const;

  const RemoteOptions options_;
  const TemporaryDirectory directory_;
  QueueRules rules_;
};

}  // namespace passnet::cluster
