// One @triton.jit function and what it is compiled for: one of the variants that Triton keeps of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "ir/dtype.h"

namespace passnet::pass {

/// A Python module of a pass, of which only imports, constants and @triton.jit functions are left: all else is blanked
/// out with spaces, so that lines and columns hold.
struct TritonModule {
  std::string name;  // as others import it: "shared", "pass_dir.shared"
  std::string file;  // for messages
  std::shared_ptr<const std::string> text;
};

/// What a parameter is at compile time. monostate: None. A dtype is the one of triton.language.
using TritonConstant = std::variant<std::monostate, bool, int64_t, double, std::string, ir::DType>;

struct TritonParameter {
  std::string name;
  std::string type;              // in Triton's spelling: "*fp16", "*i64", "i32", "u64", "fp32", "i1"; empty: a constant
  bool divisible_by_16 = false;  // a pointer's address, an integer
  std::optional<TritonConstant> constant = {};  // with an empty type, and then always
  bool operator==(const TritonParameter&) const = default;
};

struct TritonRequest {
  std::vector<std::shared_ptr<const TritonModule>> modules;  // the first holds the kernel
  std::string kernel;
  std::vector<TritonParameter> parameters;  // in the order of the signature
  int num_warps = 4, num_stages = 3, num_ctas = 1;
  std::optional<int> maxnreg = {};     // registers per thread
  bool enable_fp_fusion = true;        // a * b + c in one rounding
  std::string architecture = "sm_90";  // of the GPU
  SourceLoc at = {};                   // the kernel, for messages that know no better place
};

/// Bytes of an argument of that type in a launch; none for what is no such type.
std::optional<int64_t> argument_bytes(std::string_view type);

inline bool is_power_of_two(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

/// 90 of "sm_90".
std::optional<int> capability_of(std::string_view architecture);

/// Errors: BadPass at `at`: a type, a constant or an option that Triton does not have, named; BadPass when the texts
/// have more than 4 MiB.
Result<void> check_request(const TritonRequest& request);

/// A member of "kernels" in the request.json of python/passnet_triton, without "modules" and "cuda_version".
Json to_json(const TritonRequest& request);

/// How Triton calls a module's text: "pass_dir/shared.py" of "pass_dir.shared". No path of this machine, so that none
/// gets into what is built.
std::string file_in_jail(const TritonModule& module);

}  // namespace passnet::pass
