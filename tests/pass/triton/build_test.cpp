// @triton.jit kernels, compiled without a GPU: what comes out, for which request, and what is kept.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <thread>

#include "pass/kernel/check/cubin_check.h"
#include "pass/kernel/check/cubin_variables.h"
#include "triton_fixture.h"

namespace passnet::pass {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using TritonBuild = TritonFixture;

const std::string kScaleKernel =
    "@triton.jit\n"
    "def scale(x, out, n, stride, s, B: tl.constexpr, T: tl.constexpr, BIAS: tl.constexpr):\n"
    "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    v = tl.load(x + i * stride, mask=i < n).to(T) * s\n"
    "    if BIAS is not None:\n"
    "        v += BIAS\n"
    "    tl.store(out + i, v, mask=i < n)\n";
TritonRequest scale_request(TritonParameter stride, TritonConstant bias = std::monostate{}) {
  TritonRequest request;
  request.modules = {std::make_shared<TritonModule>(
      TritonModule{"Name", "Name.py", std::make_shared<std::string>(kTritonImports + kScaleKernel)})};
  request.kernel = "scale";
  request.parameters = {pointer("x", "fp16"),
                        pointer("out", "fp16"),
                        {"n", "i64", true},
                        std::move(stride),
                        {"s", "fp32"},
                        constant("B", int64_t{256}),
                        constant("T", ir::DType::Float32),
                        constant("BIAS", std::move(bias))};
  return request;
}

TEST_F(TritonBuild, SaysWhatALaunchNeeds) {
  const auto built = build(add_request("bf16"));
  ASSERT_TRUE(built) << to_string(built.error());
  EXPECT_EQ(built->entry, "add");
  EXPECT_EQ(built->object.extension(), ".cubin");
  EXPECT_THAT(built->parameters, ElementsAre("*bf16", "*bf16", "*bf16", "i32"));
  ASSERT_TRUE(built->triton);
  EXPECT_THAT(built->triton->arguments, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(built->triton->threads, 128);
  EXPECT_EQ(built->triton->cluster, 1);
  EXPECT_EQ(built->triton->shared_bytes, 0);
  for (const TritonLaunch::Scratch& scratch : built->triton->scratch) EXPECT_EQ(scratch.bytes, 0);
}

TEST_F(TritonBuild, OptionsAndTypesMakeOtherKernels) {
  std::vector<TritonRequest> requests(5, add_request());
  requests[1].num_warps = 8;
  requests[2].num_stages = 1;  // another key, whatever comes out
  requests[3] = add_request("fp16");
  requests[4].parameters[4] = constant("B", int64_t{256});
  const auto built = build(requests);
  for (const auto& kernel : built) ASSERT_TRUE(kernel) << to_string(kernel.error());
  std::set<std::filesystem::path> objects;
  for (const auto& kernel : built) objects.insert(kernel->object);
  EXPECT_EQ(objects.size(), 5);
  EXPECT_EQ(built[1]->triton->threads, 256);
}

TEST_F(TritonBuild, TheSameRequestIsCompiledOnceAndKept) {
  const auto built = build(std::vector(3, add_request()));
  for (const auto& kernel : built) ASSERT_TRUE(kernel) << to_string(kernel.error());
  EXPECT_EQ(built[0]->object, built[2]->object);
  EXPECT_FALSE(built[0]->from_cache);
  const auto kept = build(add_request());
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->from_cache);
  EXPECT_EQ(kept->sha256, built[0]->sha256);
  EXPECT_EQ(kept->triton, built[0]->triton);
  EXPECT_EQ(kept->parameters, built[0]->parameters);
}

TEST_F(TritonBuild, WhatIsDamagedOrAnothersIsBuiltAgain) {
  const auto first = build(add_request()), other = build(add_request("fp16"));
  ASSERT_TRUE(first && other);
  const auto beside = [](const BuiltKernel& kernel, const char* extension) {
    return std::filesystem::path(kernel.object).replace_extension(extension);
  };
  const auto damages = {std::pair{first->object, *read_file(other->object, FileKind::Lines)},
                        std::pair{beside(*first, ".json"), std::string("{}")}};
  for (const auto& [path, content] : damages) {
    ASSERT_TRUE(write_file(path, content));
    const auto again = build(add_request());
    ASSERT_TRUE(again);
    EXPECT_FALSE(again->from_cache) << path;
    EXPECT_EQ(again->sha256, first->sha256);
    EXPECT_TRUE(build(add_request())->from_cache);
  }
}

TEST_F(TritonBuild, TwoAtOnceGetTheSame) {
  Result<BuiltKernel> first = resource_error(""), second = resource_error("");
  std::jthread other([&] { first = build(add_request()); });
  second = build(add_request());
  other.join();
  for (const auto* built : {&first, &second}) ASSERT_TRUE(*built) << to_string(built->error());
  EXPECT_EQ(first->sha256, second->sha256);
}

TEST_F(TritonBuild, ArgumentsThatAreConstantsAreFolded) {
  const auto any = build(scale_request({"stride", "i64", false}));
  const auto one = build(scale_request(constant("stride", int64_t{1}), 0.5));
  ASSERT_TRUE(any) << to_string(any.error());
  ASSERT_TRUE(one) << to_string(one.error());
  EXPECT_THAT(any->parameters, ElementsAre("*fp16", "*fp16", "i64", "i64", "fp32"));
  EXPECT_THAT(one->parameters, ElementsAre("*fp16", "*fp16", "i64", "fp32"));
  EXPECT_THAT(one->triton->arguments, ElementsAre(0, 1, 2, 4));
}

TEST_F(TritonBuild, TakesArgumentsOfEveryType) {
  std::string text = kTritonImports + "@triton.jit\ndef k(out, p", stores;
  std::vector<TritonParameter> parameters = {pointer("out", "fp64"), pointer("p", "u1")};
  for (const char* type :
       {"u1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp64"}) {
    const std::string name = std::string("a_") + type;
    text += ", " + name;
    stores += "    tl.atomic_add(out, " + name + ".to(tl.float64))\n";
    parameters.push_back({name, type});
  }
  EXPECT_EQ(error_of(TritonFixture::request(text + "):\n" + stores, "k", parameters)), "built");
}

TEST_F(TritonBuild, DivisibilityWidensLoads) {
  TritonRequest request = add_request();
  EXPECT_THAT(ptx_of(request), HasSubstr("ld.global.v4.b32"));
  for (TritonParameter& parameter : request.parameters) parameter.divisible_by_16 = false;
  EXPECT_THAT(ptx_of(request), Not(HasSubstr("ld.global.v4.b32")));
}

TEST_F(TritonBuild, NoPathOfThisMachineIsInThePtx) {
  const std::string ptx = ptx_of(add_request());
  EXPECT_THAT(ptx, HasSubstr(".visible .entry add("));
  for (const char* part : {"site-packages", ".py", "/tmp"}) EXPECT_THAT(ptx, Not(HasSubstr(part)));
}

TEST_F(TritonBuild, TakesProductsOfTiles) {
  TritonRequest request =
      TritonFixture::request(kTritonImports +
                                 "@triton.jit\n"
                                 "def product(a, b, out, K, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):\n"
                                 "    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, B)\n"
                                 "    acc = tl.zeros((M, N), tl.float32)\n"
                                 "    for start in range(0, K, B):\n"
                                 "        acc += tl.dot(tl.load(a + m * K + (start + k)[None, :]), tl.load(b + (start "
                                 "+ k)[:, None] * N + n))\n"
                                 "    tl.store(out + m * N + n, acc)\n",
                             "product",
                             {pointer("a", "fp16"),
                              pointer("b", "fp16"),
                              pointer("out", "fp32"),
                              {"K", "i32", true},
                              constant("M", int64_t{64}),
                              constant("N", int64_t{64}),
                              constant("B", int64_t{32})});
  const auto built = build(request);
  ASSERT_TRUE(built) << to_string(built.error());
  EXPECT_GE(built->triton->shared_bytes, 2 * 64 * 32 * 2);
  request.parameters[6] = constant("B", int64_t{512});
  EXPECT_THAT(error_of(request),
              testing::MatchesRegex("Name.py:4:5: error: kernel 'product' needs [0-9]+ bytes of shared memory, a block "
                                    "on sm_90 may have 232448\nhint: use smaller blocks or a smaller num_stages"));
}

TEST_F(TritonBuild, TakesHelpersAndConstantsOfOtherModules) {
  TritonRequest request = TritonFixture::request(
      "import torch\nimport torch.nn.functional as F\nfrom torch import Tensor, nn\n" + kTritonImports +
          "from triton.language.extra import libdevice\n"
          "from pass_dir.shared import activate\n"
          "import pass_dir.shared as s\n"
          "from constants import *\n"
          "DTYPES = {torch.float16: tl.float16}\n"
          "@triton.jit\n"
          "def k(x, out, n, B: tl.constexpr):\n"
          "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
          "    v = activate(tl.load(x + i, mask=i < n)) + s.shifted(LIMIT)\n"
          "    tl.store(out + i, libdevice.tanh(v) + tl.math.exp(v) + tl.extra.cuda.libdevice.erf(v), mask=i < n)\n",
      "k", {pointer("x", "fp32"), pointer("out", "fp32"), {"n", "i32"}, constant("B", int64_t{128})});
  request.modules.push_back(module("pass_dir.shared", kTritonImports +
                                                          "from constants import LIMIT\n"
                                                          "@triton.jit\n"
                                                          "def shifted(v):\n"
                                                          "    return v + 1\n"
                                                          "@triton.jit\n"
                                                          "def activate(v):\n"
                                                          "    return tl.minimum(tl.maximum(v, 0.0), LIMIT)\n"));
  request.modules.push_back(module("constants", kTritonImports + "LIMIT = tl.constexpr(6.0)\n"));
  EXPECT_EQ(error_of(request), "built");
}

TEST_F(TritonBuild, TablesOfLibdeviceAreNoState) {
  const std::string text = kTritonImports +
                           "from triton.language.extra import libdevice\n"
                           "@triton.jit\n"
                           "def k(x, B: tl.constexpr):\n"
                           "    i = tl.arange(0, B)\n"
                           "    v = tl.load(x + i)\n"
                           "    tl.store(x + i, tl.sin(v) + tl.rand(3, i) + libdevice.sqrt(v) + libdevice.j0(v))\n";
  for (const char* type : {"fp32", "fp64"}) {
    const auto built = build(TritonFixture::request(text, "k", {pointer("x", type), constant("B", int64_t{128})}));
    ASSERT_TRUE(built) << to_string(built.error());
    auto cubin = read_file(built->object, FileKind::Lines);
    ASSERT_TRUE(cubin);
    const auto variables = read_cubin_variables(*cubin);
    ASSERT_TRUE(variables) << to_string(variables.error());
    EXPECT_GE(variables->size(), 2u);
    for (const CubinVariable& variable : *variables) {
      std::string other = *cubin;
      const size_t at = other.find(variable.bytes);
      ASSERT_NE(at, std::string::npos);
      ++other[at + 1];
      EXPECT_EQ(check_triton_cubin(other, "k").error().message,
                fmt::format("kernel 'k' has a variable '{}' (.nv.global.init, {} bytes) that outlives a launch",
                            variable.name, variable.size));
    }
  }
}

TEST_F(TritonBuild, OtherGpusAndClusters) {
  std::vector<TritonRequest> requests(4, add_request());
  requests[1].architecture = "sm_80";
  requests[2].num_ctas = 2;
  requests[3].maxnreg = 64;
  const auto built = build(requests);
  for (const auto& kernel : built) ASSERT_TRUE(kernel) << to_string(kernel.error());
  EXPECT_EQ(built[2]->triton->cluster, 2);
  EXPECT_NE(built[0]->sha256, built[1]->sha256);
}

TEST_F(TritonBuild, DescribesWhatCompiles) {
  const auto words = describe_triton("sm_90");
  ASSERT_TRUE(words) << to_string(words.error());
  EXPECT_THAT(*words, testing::MatchesRegex("triton [0-9.]+, ptxas [0-9.]+, [0-9a-f]{12}"));
  EXPECT_EQ(to_string(describe_triton("h200").error()), "error: Triton for 'h200'");
}

}  // namespace
}  // namespace passnet::pass
