// Threads that answer requests, and hand the answers to the thread that writes them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "agent/serve/http_server.h"
#include "base/file/file.h"

namespace passnet::agent {

/// One request in work.
struct HttpJob {
  uint64_t connection = 0;
  const HttpRoute* route = nullptr;
  ServerRequest request;
};
struct HttpDone {
  uint64_t connection = 0;
  HttpReply reply;
};

/// Answers of all workers, and a descriptor that can be read when there are some.
class HttpAnswers {
 public:
  /// Errors: Io.
  static Result<std::unique_ptr<HttpAnswers>> make();
  void add(HttpDone done);
  std::vector<HttpDone> take();
  int descriptor() const { return event_.get(); }

 private:
  std::mutex mutex_;
  std::vector<HttpDone> done_;
  UniqueFd event_;
};

class HttpWorkers {
 public:
  /// answers must outlive this.
  HttpWorkers(int threads, HttpAnswers& answers);
  /// Finishes what was begun. REQUIRES: nothing is waiting.
  ~HttpWorkers() = default;
  HttpWorkers(const HttpWorkers&) = delete;
  HttpWorkers& operator=(const HttpWorkers&) = delete;

  void add(HttpJob job);

 private:
  void work(const std::stop_token& stop);

  HttpAnswers& answers_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<HttpJob> jobs_;
  std::vector<std::jthread> threads_;
};

}  // namespace passnet::agent
