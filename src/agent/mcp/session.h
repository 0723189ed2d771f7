// One client's talk by the Model Context Protocol, on lines: calls of tools are made in order by a thread of their own, so
// that a call can be cancelled and told of while it waits or runs.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "agent/mcp/protocol.h"
#include "base/json/json_indirect.h"

namespace passnet::agent {

class McpSession {
 public:
  /// write: a line for the client; called by one thread at a time. every: between two notifications of progress.
  McpSession(const McpOffer& offer, std::function<void(const std::string& line)> write,
             std::chrono::milliseconds every = std::chrono::seconds(1));
  /// Cancels what is left.
  ~McpSession();
  McpSession(const McpSession&) = delete;
  McpSession& operator=(const McpSession&) = delete;

  /// A message of the client. A call that it cancels gets no answer.
  void take(const std::string& line);
  /// Waits until all calls are answered.
  void finish();

 private:
  struct Call {
    std::string id, line;  // the id as JSON
    IndirectJson token;    // of its progress; null: the client wants none
    std::atomic<bool> cancelled = false;
  };
  void work(const std::stop_token& stop);
  void make(const Call& call);
  void tell_progress(const Call& call, const std::stop_token& stop);
  void write(const std::string& line);
  void cancel(const std::string& id);

  const McpOffer& offer_;
  const std::function<void(const std::string&)> write_;
  const std::chrono::milliseconds every_;
  std::mutex mutex_, write_mutex_;
  std::condition_variable_any changed_;
  std::deque<std::unique_ptr<Call>> calls_;  // the first one runs
  std::jthread worker_;                      // the last member: it uses the others
};

}  // namespace passnet::agent
