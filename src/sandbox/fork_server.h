// Confined children that are copies of one process: a worker comes up without loading PyTorch's libraries, which takes most of
// its start.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/process.h"

namespace passnet::sandbox {

class ForkServer {
 public:
  /// Tells whether the kernel gives copies the namespaces that they need.
  static bool available();

  /// Starts the program of `copy`, the first that will be made, with its arguments, kServeForks and its environment, and returns
  /// at once. Errors and REQUIRES: as Process::spawn.
  Result<void> start(const SpawnOptions& copy);
  bool running() const { return process_.running(); }

  /// Makes a copy with these arguments, descriptors and Isolation::Worker, and the environment of the server. Waits until the
  /// server is up.
  /// Errors:   Resource: the server has ended, takes longer than a minute, or the machine gives no process.
  /// REQUIRES: running(); socket_fd and output_fd are given; the thread that called start() outlives the copy.
  Result<Process> fork(const SpawnOptions& copy);

 private:
  UniqueFd socket_;
  Process process_;
};

/// The last argument of a program that is to call serve_forks().
inline constexpr const char* kServeForks = "--serve-forks";

/// Answers fork() on descriptor 3 until the other side is gone. Each copy calls `entry`, as if it was its main function, and ends
/// with its result. argc, argv: of this process, in which copies show their own.
/// REQUIRES: this process has one thread.
void serve_forks(int argc, char** argv, int (*entry)(int argc, char** argv));

}  // namespace passnet::sandbox
