// Threads that answer requests, and hand the answers to the thread that writes them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/file/file.h"
#include "http/server.h"

namespace passnet::http {

/// One request in work.
struct Job {
  uint64_t connection = 0;
  const Route* route = nullptr;
  ServerRequest request;
};
struct Done {
  uint64_t connection = 0;
  Reply reply;
};

/// Answers of all workers, and a descriptor that can be read when there are some.
class Answers {
 public:
  /// Errors: Io.
  static Result<std::unique_ptr<Answers>> make();
  void add(Done done);
  std::vector<Done> take();
  int descriptor() const { return event_.get(); }

 private:
  std::mutex mutex_;
  std::vector<Done> done_;
  UniqueFd event_;
};

class Workers {
 public:
  /// answers must outlive this.
  Workers(int threads, Answers& answers);
  /// Finishes what was begun. REQUIRES: nothing is waiting.
  ~Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void add(Job job);

 private:
  void work(const std::stop_token& stop);

  Answers& answers_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> jobs_;
  std::vector<std::jthread> threads_;
};

}  // namespace passnet::http
