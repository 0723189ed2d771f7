// Builds @triton.jit kernels from texts in a cache of its own, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file/file.h"
#include "pass/triton/build.h"
#include "pass/triton/compile.h"
#include "pass/triton/toolchain.h"
#include "tests/scratch.h"

namespace passnet::pass {

inline const std::string kTritonImports = "import triton\nimport triton.language as tl\n";
/// Lines 3 to 8 of a module.
inline const std::string kAddKernel =
    "@triton.jit\n"
    "def add(x, y, out, n, B: tl.constexpr):\n"
    "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    inside = i < n\n"
    "    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)\n";

inline TritonParameter pointer(std::string name, std::string type, bool divisible = true) {
  return {std::move(name), "*" + type, divisible};
}
inline TritonParameter constant(std::string name, TritonConstant value) {
  return {std::move(name), "", false, std::move(value)};
}

class TritonFixture : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto toolchain = find_triton(90); !toolchain)
      GTEST_SKIP() << "1 check skipped: " << to_string(toolchain.error());
  }

  static std::shared_ptr<const TritonModule> module(std::string name, std::string text) {
    std::string file = name.substr(name.rfind('.') + 1) + ".py";
    return std::make_shared<TritonModule>(
        TritonModule{std::move(name), std::move(file), std::make_shared<std::string>(std::move(text))});
  }
  static TritonRequest request(const std::string& text, std::string kernel, std::vector<TritonParameter> parameters) {
    TritonRequest request;
    request.modules = {module("Name", text)};
    request.kernel = std::move(kernel);
    request.parameters = std::move(parameters);
    request.at = {"Name.py", 4, 5};
    return request;
  }
  static TritonRequest add_request(const std::string& dtype = "fp32") {
    return request(kTritonImports + kAddKernel, "add",
                   {pointer("x", dtype),
                    pointer("y", dtype),
                    pointer("out", dtype),
                    {"n", "i32", true},
                    constant("B", int64_t{1024})});
  }

  TritonOptions options() const {
    TritonOptions options;
    options.cache_dir = scratch_.path / "cache";
    options.jobs = 2;
    return options;
  }
  std::vector<Result<BuiltKernel>> build(const std::vector<TritonRequest>& requests) const {
    return build_triton_kernels(requests, options());
  }
  Result<BuiltKernel> build(const TritonRequest& request) const { return build(std::vector{request})[0]; }
  std::string error_of(const TritonRequest& request) const {
    const auto built = build(request);
    return built ? "built" : to_string(built.error());
  }

  /// The PTX that comes out of the jail, or the error.
  std::string ptx_of(const TritonRequest& request) const {
    const auto toolchain = find_triton(90);
    if (!toolchain) return to_string(toolchain.error());
    const TritonTask task{&request, &*toolchain};
    const TritonLimits limits{options().timeout_s, options().memory_bytes, 1, scratch_.path};
    const auto answer = compile_to_ptx({&task, 1}, limits)[0];
    return answer ? answer->ptx : to_string(answer.error());
  }

  const ScratchDirectory scratch_;
};

}  // namespace passnet::pass
