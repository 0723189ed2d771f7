// A launch made ready to run: scalar arguments filled in, pointers patched when the buffers are known.
#pragma once

#include <passnet/abi.h>

#include <vector>

#include "pass/plan/launch_list.h"
#include "runtime/cpu/thread_pool.h"

namespace passnet::runtime {

class LaunchReady {
 public:
  LaunchReady(const pass::Launch& launch, passnet_run_fn run);
  /// buffers[i]: first element of buffer i. Small launches run on the caller alone.
  void run(ThreadPool& pool, char* const* buffers);

 private:
  static void run_tasks(void* context, int64_t first, int64_t last);

  struct Pointer {
    uint32_t arg, buffer;
    int64_t offset_bytes;
  };
  passnet_run_fn run_ = nullptr;
  std::vector<passnet_arg> args_;
  std::vector<Pointer> pointers_;
  passnet_launch launch_{};
  int64_t tasks_ = 1;
  int64_t bytes_ = 0;  // memory its views span
};

}  // namespace passnet::runtime
