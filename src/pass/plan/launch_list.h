// The flat launch list: what a host plan comes to for one set of shapes. Pure data; the candidate executes
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "ir/tensor_type.h"

namespace passnet::pass {

/// Memory a launch reads or writes: an input of the site or an allocation of the plan.
struct Buffer {
  int32_t input = -1;           // index among the site's tensor inputs; -1: allocated by the plan
  ir::TensorType type;          // of the whole buffer as given or allocated
  std::optional<double> fill;   // torch.zeros/ones/full; absent: torch.empty
  bool may_be_written = false;  // of an input: nobody needs its elements afterwards (run/apply/overwrites.h)
  /// Whether kernels must leave its elements as they are.
  bool is_read_only() const { return input >= 0 && !may_be_written; }
  bool operator==(const Buffer&) const = default;
};

/// A tensor as the plan sees it: a buffer, possibly viewed with another shape.
struct View {
  uint32_t buffer = 0;
  int64_t offset = 0;  // elements from the buffer's first element
  ir::TensorType type;
  bool operator==(const View&) const = default;
};

/// A kernel argument: a pointer, an integer, a float or a bool; None for a kernel of Triton alone.
using LaunchArg = std::variant<View, int64_t, double, bool, std::monostate>;

/// A compile-time constant of a kernel; strings and None for a kernel of Triton alone.
using Constant = std::variant<int64_t, double, bool, ir::DType, std::string, std::monostate>;
struct NamedConstant {
  std::string name;
  Constant value;
  bool operator==(const NamedConstant&) const = default;
};

inline constexpr int64_t kMaxBlock = 1024;
/// Blocks of a cluster on a GPU, which the constant CLUSTER of a launch says: 1, 2, 4 or 8; 1 without it. Errors: BadPass:
/// it is something else.
Result<int64_t> blocks_of_cluster(const std::vector<NamedConstant>& constants);

/// One way to run a kernel that @triton.autotune lists.
struct LaunchChoice {
  std::vector<NamedConstant> constants;
  std::vector<int64_t> grid;
  bool operator==(const LaunchChoice&) const = default;
};

/// Where the source of a kernel is.
enum class KernelOrigin : uint8_t {
  Beside,   // Name.cpp or Name.cu
  Triton,   // a `@triton.jit` function of the pass file or of one that it imports
  Builtin,  // ours: include/passnet/builtin
};

struct Launch {
  std::string kernel;                    // the function's name
  std::vector<NamedConstant> constants;  // in the order of the plan; of Triton: of the signature, then options
  std::vector<int64_t> grid;             // 1 to 3 sizes, each >= 0; product = number of tasks
  int64_t block = 1;                     // threads per block on the GPU; ignored on the CPU
  std::vector<LaunchArg> args;
  SourceLoc at;  // the launch in Name.py
  KernelOrigin origin = KernelOrigin::Beside;
  // Of a `@triton.jit` function:
  std::string file = {};                     // the stem of the file that it stands in
  std::vector<std::string> parameters = {};  // the names that args have in the signature
  std::vector<LaunchChoice> choices = {};    // to be tried: the first is `constants` and `grid`; empty: no others
  bool operator==(const Launch&) const = default;
};

struct LaunchList {
  std::string pass;              // pass name
  std::vector<Buffer> buffers;   // inputs first, in order, then allocations
  std::vector<Launch> launches;  // in order
  std::vector<View> outputs;     // what the plan returned, in the pattern's order
  bool operator==(const LaunchList&) const = default;
};

/// "BLOCK=64 T=torch.float32 num_warps=2", for people.
std::string to_text(const std::vector<NamedConstant>& constants);

/// Schema: docs/protocol.md, "Launch list JSON".
Json to_json(const LaunchList& list);
/// Returns an array of them.
Json to_json(const std::vector<LaunchList>& lists);
/// Errors: BadInput naming the place in the document: a missing or wrong member, a view outside its buffer.
Result<LaunchList> launch_list_from_json(const Json& json);
/// json: an array of them. Errors: the same.
Result<std::vector<LaunchList>> launch_lists_from_json(const Json& json);

}  // namespace passnet::pass
