#include "runtime/cpu/in_process_host.h"

#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <immintrin.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "runtime/cpu/cell/sealed_object.h"
#include "runtime/device/ready_launch.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/parallel.h"

namespace passnet::runtime {

namespace {

/// Parts that the tasks of a launch are shared out in, for each thread: those that end early take over from the others.
constexpr int64_t kPartsPerThread = 4;

struct CloseLibrary {
  void operator()(void* library) const { ::dlclose(library); }
};

/// The loader finds libraries that are open by name first, so the descriptor in the name stays taken as long as the library.
struct Library {
  UniqueFd sealed;
  std::unique_ptr<void, CloseLibrary> handle;
};

/// The rounding mode of this thread, which a kernel may change and PyTorch relies on.
class KeptArithmetic {
 public:
  KeptArithmetic() : before_(_mm_getcsr()) {}
  ~KeptArithmetic() { _mm_setcsr(before_); }
  KeptArithmetic(const KeptArithmetic&) = delete;
  KeptArithmetic& operator=(const KeptArithmetic&) = delete;

 private:
  unsigned before_;
};

class InProcessHost final : public KernelHost {
 public:
  explicit InProcessHost(const std::vector<FusedList>& lists) : lists_(lists) {}

  Result<void> load() {
    std::map<std::string, void*> opened;  // by the hash of the object
    for (const FusedList& list : lists_) {
      ready_.emplace_back();
      for (size_t i = 0; i < list.kernels.size(); ++i) {
        const pass::KernelFile& file = list.kernels[i];
        const pass::Launch& launch = list.launches.launches[i];
        void*& library = opened[file.sha256];
        if (library == nullptr) {
          PASSNET_TRY(library, open(file, launch.kernel));
        }
        auto* const run = reinterpret_cast<passnet_run_fn>(::dlsym(library, file.entry.c_str()));
        if (run == nullptr) {
          return bad_pass(fmt::format("cannot load kernel '{}': '{}' has no function '{}'", launch.kernel, file.object,
                                      file.entry));
        }
        ready_.back().push_back({make_ready(launch), run});
      }
    }
    return {};
  }

  at::Tensor allocate(size_t list, size_t buffer) override {
    const ir::TensorType& type = lists_[list].launches.buffers[buffer].type;
    return at::detail::empty_strided_cpu(type.shape, type.strides, scalar_type(type.dtype));
  }

  std::unique_ptr<CheckedMemory> allocate_checked(size_t, size_t) override {
    PASSNET_CHECK(false, "kernels are checked in a cell, not in this process");
    return nullptr;
  }

  void launch(size_t list, size_t index, char* const* buffers) override {
    Loaded& loaded = ready_[list][index];
    for (const ReadyLaunch::Pointer& pointer : loaded.ready.pointers)
      loaded.ready.args[pointer.arg].pointer = buffers[pointer.buffer] + pointer.offset_bytes;
    run(loaded);
  }

  size_t calls_at_a_time() const override { return 1; }

 private:
  struct Loaded {
    ReadyLaunch ready;
    passnet_run_fn run;
  };

  /// The bytes that were hashed are those that are mapped: nobody can change the sealed memory.
  Result<void*> open(const pass::KernelFile& file, const std::string& kernel) {
    if (file.sha256.empty()) {
      return bad_pass(fmt::format("cannot load kernel '{}': '{}' comes without the hash of the object that was judged",
                                  kernel, file.object));
    }
    PASSNET_TRY(UniqueFd sealed, seal_object(file, kernel));
    void* const library = ::dlopen(fmt::format("/proc/self/fd/{}", sealed.get()).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return bad_pass(fmt::format("cannot load kernel '{}': {}", kernel, ::dlerror()));
    libraries_.push_back({std::move(sealed), std::unique_ptr<void, CloseLibrary>(library)});
    return library;
  }

  static void run(const Loaded& loaded) {
    const ReadyLaunch& ready = loaded.ready;
    if (ready.tasks <= 0) return;
    const int64_t threads = ready.bytes < kAloneBytes ? 1 : std::min<int64_t>(at::get_num_threads(), ready.tasks);
    passnet_launch launch{ready.args.data(), {ready.grid[0], ready.grid[1], ready.grid[2]}, threads, 0};
    const auto run_tasks = [&](int64_t first, int64_t last) {
      const KeptArithmetic kept;
      loaded.run(&launch, first, last);
    };
    if (threads == 1) return run_tasks(0, ready.tasks);
    const int64_t parts = std::min(ready.tasks, threads * kPartsPerThread);
    for_each_part(parts,
                  [&](int64_t part) { run_tasks(ready.tasks * part / parts, ready.tasks * (part + 1) / parts); });
  }

  const std::vector<FusedList>& lists_;
  std::vector<std::vector<Loaded>> ready_;  // by list and launch
  std::vector<Library> libraries_;
};

}  // namespace

Result<std::unique_ptr<KernelHost>> make_in_process_host(const std::vector<FusedList>& lists) {
  auto host = std::make_unique<InProcessHost>(lists);
  PASSNET_TRY_VOID(host->load());
  return std::unique_ptr<KernelHost>(std::move(host));
}

}  // namespace passnet::runtime
