#include "runtime/session/process.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sin.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Logging.h>
#include <sys/resource.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "runtime/cpu/cell/host.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/gpu/gpu_device.h"
#include "runtime/tensor/allocator.h"
#include "runtime/tensor/arena.h"
#include "runtime/tensor/placement.h"
#include "runtime/tensor/written_pages.h"

namespace passnet::runtime {

namespace {

struct Process {
  int threads = 1;
  std::vector<int> processors;
  std::unique_ptr<Arena> arena;
  std::unique_ptr<CellStarter> starter;
  std::unique_ptr<Device> cpu, gpu;
};
Process& process() {
  static Process instance;
  return instance;
}

/// What would cost a graph's first call time that belongs to no graph.
void call_once() {
  const c10::InferenceMode mode;
  // The first product and the first generator cost milliseconds.
  (void)at::matmul(at::ones({8, 8}), at::ones({8, 8}));
  // MKL's vector functions choose their code at the first call. When two threads make it at the same time, one of them
  // computes with fewer digits: sin was wrong by 1.5e-4 in half of the elements in one process of thirty.
  (void)at::sin(at::ones({8}));
}

/// What is asked of /proc later is opened now: the filter of workers may refuse to.
void open_own_files() {
  (void)available_memory();
  const char page = 0;
  (void)has_written_pages(&page, 1);
}

}  // namespace

Result<void> start_runtime(RuntimeOptions options) {
  Process& own = process();
  own.threads = options.threads;
  own.processors = options.processors;
  own.starter = std::move(options.cells);
  if (own.starter) {
    PASSNET_TRY(own.arena, Arena::make(Arena::Kind::Shared));
  }
  install_allocator(own.arena.get());
  c10::SetStackTraceFetcher([] { return std::string(); });  // our messages have the graph's line instead
  at::set_num_threads(options.threads);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  // Indices of sparse tensors come from graphs: PyTorch uses them as they are, unless it is told to look.
  at::globalContext().setCheckSparseTensorInvariants(true);
  own.cpu =
      make_cpu_device([cells = CellResources{own.starter.get(), own.arena.get(), options.threads, options.processors}](
                          const std::vector<FusedList>& lists) { return make_cell_host(cells, lists); });
  call_once();
  open_own_files();
  if (options.gpu) {
    const c10::InferenceMode mode;
    PASSNET_TRY(own.gpu, start_gpu(*options.gpu));
  }
  seed_generators();
  return {};
}

void preload_for_gpu() { preload_gpu(); }

Device& device() {
  PASSNET_CHECK(process().cpu != nullptr, "start_runtime() has not been called");
  return process().gpu ? *process().gpu : *process().cpu;
}

bool on_gpu() { return process().gpu != nullptr; }
std::string device_name() { return device().name(); }
std::string device_architecture() { return device().architecture(); }
bool device_has_stopped() { return on_gpu() && device().has_stopped(); }

std::optional<record::DeviceMemory> trim_memory() {
  std::optional<record::DeviceMemory> kept = process().cpu->give_back_memory();
  if (process().gpu) kept = process().gpu->give_back_memory();
  return kept;
}

std::string torch_version() { return TORCH_VERSION; }
OnProcessors on_all_processors() { return OnProcessors(process().processors); }
int thread_count() { return process().threads; }

}  // namespace passnet::runtime
