// Builds kernels from text in a scratch directory, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "pass/kernel/build.h"
#include "tests/scratch.h"

namespace passnet::pass {

inline const std::string kInclude = "#include <passnet/kernel.h>\n";

/// A constant of each kind, and a kernel `k(T* out)` that compiles when each has its value.
inline const std::vector<NamedConstant> kConstantsOfEveryKind = {{"N", INT64_MIN},
                                                                 {"E", 0.1},
                                                                 {"F", true},
                                                                 {"G", false},
                                                                 {"I", std::numeric_limits<double>::infinity()},
                                                                 {"Q", std::numeric_limits<double>::quiet_NaN()},
                                                                 {"T", ir::DType::Int64}};
inline const std::string kChecksConstants =
    kInclude +
    "static_assert(N == -9223372036854775807 - 1 && E == 0.1 && F && !G && I > 1e308 && Q != Q && sizeof(T) == 8);\n"
    "PASSNET_KERNEL k(T* out) {}\n";

class KernelFixture : public testing::Test {
 protected:
  KernelRequest request(const std::string& text, const std::string& kernel = "k",
                        std::vector<NamedConstant> constants = {}) {
    const auto path = directory_ / (architecture_.empty() ? "Name.cpp" : "Name.cu");
    EXPECT_TRUE(write_file(path, text));
    return {path, kernel, std::move(constants), block_, architecture_};
  }
  BuildOptions options() const {
    BuildOptions options;
    options.cache_dir = directory_ / "cache";
    options.timeout_s = 600;  // however busy the machine is
    return options;
  }
  Result<BuiltKernel> build(const std::string& text, const std::string& kernel = "k",
                            std::vector<NamedConstant> constants = {}) {
    return build_kernel(request(text, kernel, std::move(constants)), options());
  }
  /// The whole error with the scratch directory taken out, or "built".
  std::string error_of(const std::string& text, const std::string& kernel = "k",
                       std::vector<NamedConstant> constants = {}) {
    const auto built = build(text, kernel, std::move(constants));
    if (built) return "built";
    std::string message = to_string(built.error());
    const std::string prefix = directory_.string() + "/";
    for (size_t at; (at = message.find(prefix)) != std::string::npos;) message.erase(at, prefix.size());
    return message;
  }

  const ScratchDirectory scratch_;
  const std::filesystem::path& directory_ = scratch_.path;
  std::string architecture_;  // set it to build for a GPU
  int64_t block_ = 1;
};

}  // namespace passnet::pass
