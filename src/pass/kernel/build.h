// Kernel sources -> shared objects and cubins, compiled in the jail and cached by content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pass/plan/kernel_file.h"
#include "pass/plan/launch_list.h"

namespace passnet::pass {

/// What one kernel is built from.
struct KernelRequest {
  std::filesystem::path source;  // Name.cpp or Name.cu
  std::string kernel;            // function to launch
  std::vector<NamedConstant> constants = {};
  int64_t block = 1;                             // threads per block of the launch: a constant of a GPU's kernel
  std::string architecture = {};                 // "sm_90", "x86-64-v3"; empty: this machine's processor
  std::shared_ptr<const std::string> text = {};  // of the source, where it has been read; null: it is read
  bool operator==(const KernelRequest&) const = default;
};

/// What a kernel that was compiled from Triton fixes about its launch; its arguments are those of `arguments` in that
/// order, then the pointers of `scratch`.
struct TritonLaunch {
  std::vector<uint32_t> arguments;  // of the request's parameters, by index: those that were not folded into the code
  /// Memory of a launch; null where bytes is 0.
  struct Scratch {
    int64_t bytes = 0;  // of one block: times the number of blocks of the grid, and of cluster
    int64_t align = 1;  // bytes, a power of two
    bool operator==(const Scratch&) const = default;
  };
  std::vector<Scratch> scratch;
  int64_t threads = 0;       // per block, 32 to 1024
  int64_t shared_bytes = 0;  // dynamic shared memory; above 48 KiB the driver has to be asked for it
  int64_t cluster = 1;  // blocks of a cluster, in x: the first size of the grid is multiplied by it. 16 is not portable
  bool operator==(const TritonLaunch&) const = default;
};

struct BuiltKernel {
  std::filesystem::path object;         // .so or .cubin in the cache; never changed once written
  std::string entry;                    // "passnet_run_NAME", see include/passnet/abi.h; of a cubin the kernel's name
  std::vector<std::string> parameters;  // "const float*", "float*", "int64_t", "float": for checking a launch; of a
                                        // kernel from Triton "*fp16", "i32", of those that are left
  std::string sha256 = {};              // of the object's bytes: who loads them later can check that they are these
  bool from_cache = false;
  std::optional<TritonLaunch> triton = {};  // of a kernel from Triton
  /// Returns what whoever loads it has to know.
  KernelFile file() const;
};

struct BuildOptions {
  std::filesystem::path cache_dir;    // default passnet_home()/kernels
  std::filesystem::path include_dir;  // where passnet/kernel.h is; default: found beside the binary or the source
  int timeout_s = 30;
  size_t most_builds = 256;                        // distinct kernels that the passes of one graph may need
  const std::atomic<bool>* interrupted = nullptr;  // ends a compilation when it becomes true
  // To show what the other layers hold without one of them:
  bool filter_source = true;  // false: the text may say anything
  bool check_object = true;   // false: state, start-up code and symbols are not looked at
  bool scan_code = true;      // false: neither machine code nor PTX is read
};

/// An object in the cache is taken when its seal (object_seal.h) holds and it passes the checks of a new one; else it is
/// built again.
/// Errors: BadInput when the source is no regular file or larger than 1 MiB; BadPass with the compiler's own message, cut to what matters, at Name.cpp:line:col; BadPass when the object
/// has writable data, start-up code or an undefined symbol outside the allow-list of pure math functions; Resource when
/// the compiler (g++; NVRTC or nvcc) is missing or the time is up, and Resource "interrupted".
Result<BuiltKernel> build_kernel(const KernelRequest& request, const BuildOptions& options = {});

/// The source of the kernels that plans launch without having them: copies and casts. Errors: Resource when it is not
/// installed.
Result<std::filesystem::path> builtin_source(bool for_gpu, const BuildOptions& options = {});

/// What decides a built kernel besides its own text, in one line that a person can read: the compiler, and a hash of
/// its flags, the processor and the headers that kernels include. architecture as in KernelRequest. Errors: Resource,
/// as build_kernel.
Result<std::string> describe_toolchain(const BuildOptions& options = {}, const std::string& architecture = "");

/// Checks a launch against the kernel's parameters: count, pointer element types, const for inputs, scalars.
/// Errors: BadPass naming the parameter, what the plan passes and what the kernel takes.
Result<void> check_launch(const Launch& launch, const LaunchList& list, const BuiltKernel& kernel);

}  // namespace passnet::pass
