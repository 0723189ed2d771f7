// What is wrong with a @triton.jit kernel, in words for its author: exact.
#include <gmock/gmock.h>

#include "pass/triton/triton_error.h"
#include "triton_fixture.h"

namespace passnet::pass {
namespace {

class TritonErrors : public TritonFixture {
 protected:
  /// The error of `k(x, n)` with that body, which begins in line 5; other text may stand before it, in line 3.
  std::string error_of_body(const std::string& body, const std::string& before = "\n") const {
    return error_of(TritonFixture::request(kTritonImports + before + "@triton.jit\ndef k(x, n):\n    " + body + "\n",
                                           "k", {pointer("x", "fp32"), {"n", "i32"}}));
  }
};

TEST_F(TritonErrors, StandAtTheLineOfTheFile) {
  EXPECT_EQ(error_of_body("tl.store(x, y)"), "Name.py:6:17: error: y is not defined");
  EXPECT_EQ(error_of_body("tl.store(x, tl.thread_id(0))"),
            "Name.py:6:17: error: module 'triton.language' has no attribute 'thread_id'\n"
            "hint: a Triton program is one block, not one thread: use tl.program_id and tl.arange");
  EXPECT_EQ(error_of_body("tl.store(x, tl.maximun(n, 0))"),
            "Name.py:6:17: error: module 'triton.language' has no attribute 'maximun'\nhint: did you mean tl.maximum?");
  EXPECT_EQ(error_of_body("tl.store(x, tl.arange(0, 3))"),
            "Name.py:6:17: error: arange's range must be a power of 2\n"
            "hint: use a power of two, as triton.next_power_of_2(n), and a mask");
}

TEST_F(TritonErrors, OfTypes) {
  EXPECT_EQ(error_of_body("tl.store(x, tl.sqrt(n))"),
            "Name.py:6:17: error: Expected dtype ['fp32', 'fp64'] but got int32\n"
            "hint: compute it in float32: x.to(tl.float32)");
  EXPECT_EQ(error_of_body("tl.store(x, x + 1.0)"),
            "Name.py:6:17: error: invalid operands of type pointer<fp32> and triton.language.float32\n"
            "hint: load what the pointer points to first: tl.load(…)");
  EXPECT_EQ(error_of_body("tl.store(x, 1.0, mask=tl.arange(0, 4) < n)"),
            "Name.py:6:5: error: Mask argument cannot be block type if pointer argument is not a block\n"
            "hint: add the offsets to the pointer, as in tl.load(x + offsets, mask=offsets < n)");
  EXPECT_EQ(error_of_body("tl.store(x + tl.arange(0, n), 1.0)"),
            "Name.py:6:18: error: arange's arguments must be of type tl.constexpr\n"
            "hint: annotate the parameter: BLOCK: tl.constexpr");
  EXPECT_EQ(error_of_body("tl.store(x + n, tl.dot(n, n))"),
            "Name.py:6:21: error: input and other must have equal ranks >= 2");
  EXPECT_EQ(error_of_body("tl.store(n, 1.0)"),
            "Name.py:6:5: error: Unsupported ptr type triton.language.int32 in `tl.store`");
}

TEST_F(TritonErrors, OfNamesOutsideTheKernel) {
  EXPECT_EQ(error_of_body("tl.store(x, helper(n))", "def helper(v): return v\n"),
            "Name.py:4:5: error: Unsupported function referenced: <function helper>\n"
            "hint: write @triton.jit above 'def helper'");
  EXPECT_EQ(error_of_body("tl.store(x, LIMIT)", "LIMIT = 6.0\n"),
            "Name.py:6:17: error: Cannot access global variable LIMIT from within @jit'ed function\n"
            "hint: write LIMIT = tl.constexpr(…), or pass it as a parameter");
  EXPECT_EQ(error_of_body("tl.store(x, n)", "LIMIT = undefined\n"),
            "Name.py:3:9: error: name 'undefined' is not defined");
  EXPECT_EQ(error_of_body("tl.store(x, n)", "from shared import helper\n"),
            "built");  // may be blanked out, and not needed
  EXPECT_EQ(error_of_body("tl.store(x, helper(n))", "from shared import helper\n"),
            "Name.py:4:5: error: Unsupported function referenced: shared.helper\n"
            "hint: shared.helper is no @triton.jit function of the pass or of a module beside it");
}

TEST_F(TritonErrors, OfHelpersStandWhereTheyStand) {
  TritonRequest request = TritonFixture::request(
      kTritonImports + "from shared import helper\n@triton.jit\ndef k(x, n):\n    tl.store(x, helper(n))\n", "k",
      {pointer("x", "fp32"), {"n", "i32"}});
  request.modules.push_back(
      module("shared", "\n" + kTritonImports + "@triton.jit\ndef helper(v):\n    return v + w\n"));
  EXPECT_EQ(error_of(request), "shared.py:6:16: error: w is not defined");
}

TEST_F(TritonErrors, OfSyntax) {
  EXPECT_EQ(error_of_body("tl.store(x, n))"), "Name.py:6:19: error: invalid syntax: unmatched ')'");
}

TEST_F(TritonErrors, OfTheSignature) {
  TritonRequest request = add_request();
  request.parameters.pop_back();
  EXPECT_EQ(error_of(request), "Name.py:4:5: error: kernel 'add' takes (x, y, out, n, B)");
  request = add_request();
  request.kernel = "other";
  EXPECT_EQ(error_of(request), "Name.py:4:5: error: no @triton.jit function 'other' here");
}

TEST_F(TritonErrors, OfRequests) {
  const auto with = [](auto change) {
    TritonRequest request = add_request();
    change(request);
    const auto checked = check_request(request);
    return checked ? "accepted" : to_string(checked.error());
  };
  EXPECT_EQ(with([](auto& r) { r.num_warps = 3; }),
            "Name.py:4:5: error: kernel 'add': num_warps=3, expected a power of two up to 32");
  EXPECT_EQ(with([](auto& r) { r.num_ctas = 32; }),
            "Name.py:4:5: error: kernel 'add': num_ctas=32, expected a power of two up to 16");
  EXPECT_EQ(with([](auto& r) { r.num_stages = -1; }),
            "Name.py:4:5: error: kernel 'add': num_stages=-1, expected 0 to 32");
  EXPECT_EQ(with([](auto& r) { r.maxnreg = 0; }), "Name.py:4:5: error: kernel 'add': maxnreg=0, expected 1 to 255");
  EXPECT_EQ(with([](auto& r) { r.architecture = "h200"; }),
            "Name.py:4:5: error: kernel 'add': architecture 'h200', expected one such as 'sm_90'");
  EXPECT_EQ(with([](auto& r) { r.parameters[0].type = "*float"; }),
            "Name.py:4:5: error: kernel 'add': parameter 'x' has the type '*float', which Triton does not have");
  EXPECT_EQ(with([](auto& r) { r.parameters[4].constant = ir::DType::Complex64; }),
            "Name.py:4:5: error: kernel 'add': parameter 'B' is the dtype complex64, which Triton does not have");
  EXPECT_EQ(with([](auto& r) { r.parameters[0].constant = true; }),
            "Name.py:4:5: error: kernel 'add': parameter 'x' has neither a type nor a value, or both");
  EXPECT_EQ(with([](auto&) {}), "accepted");
}

TEST(TritonAnswers, AreReadWithCare) {
  TritonRequest request;
  request.modules = {
      std::make_shared<TritonModule>(TritonModule{"m", "Name.py", std::make_shared<std::string>("1\n2")})};
  request.kernel = "k";
  request.at = {"Name.py", 1, 1};
  const CompileRequest limits =
      limits_of(request, {.timeout_s = 60, .memory_bytes = 1 << 30, .jobs = 1, .scratch = {}});
  const auto error = [&](const std::string& facts, const std::string& log = "") {
    const auto found = triton_error(facts, log, request, limits);
    return found ? to_string(*found) : "none";
  };
  EXPECT_EQ(error(R"({"ptx": true})"), "none");
  EXPECT_EQ(error(R"({"memory": true})"), "Name.py:1:1: error: compiling kernel 'k' takes more than 1024 MB of memory");
  EXPECT_EQ(error(R"({"error": {"message": "a\n\n b.", "file": "m.py", "line": 2, "column": 3}})"),
            "Name.py:2:3: error: a b");
  EXPECT_EQ(error(R"({"error": {"message": "a", "file": "m.py", "line": 3}})"), "Name.py:1:1: error: a");
  EXPECT_EQ(error(R"({"error": {"message": "a", "file": "/etc/passwd", "line": 1}})"), "Name.py:1:1: error: a");
  EXPECT_EQ(error(R"({"error": {"message": "PassManager::run failed"}})", "x\nm.py:2:7: error: too large\n"),
            "Name.py:2:7: error: too large");
  EXPECT_EQ(error(R"({"error": 7})"), R"(Name.py:1:1: error: kernel 'k' answers for Triton: '{"error": 7}')");
  EXPECT_EQ(error(""), "Name.py:1:1: error: kernel 'k' answers for Triton: ''");
  EXPECT_EQ(to_string(triton_end_error("signal 11", "LLVM ERROR: x\n", request, limits)),
            "Name.py:1:1: error: Triton crashes on kernel 'k' (signal 11): 'LLVM ERROR: x'");
  EXPECT_EQ(to_string(triton_end_error("signal 6", "std::bad_alloc", request, limits)),
            "Name.py:1:1: error: compiling kernel 'k' takes more than 1024 MB of memory");
  EXPECT_EQ(to_string(triton_end_error("time", "", request, limits)),
            "Name.py:1:1: error: compiling kernel 'k' takes more than 60 s of time");
}

}  // namespace
}  // namespace passnet::pass
