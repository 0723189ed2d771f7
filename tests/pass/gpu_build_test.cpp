// Kernels for a GPU, compiled without one: what they may say and do, and the words for what they may not.
#include <gmock/gmock.h>

#include "base/file.h"
#include "kernel_fixture.h"
#include "pass/kernel/cubin_check.h"
#include "pass/kernel/gpu_compiler.h"
#include "pass/kernel/ptx_check.h"

namespace passnet::pass {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class GpuBuild : public KernelFixture {
 protected:
  void SetUp() override {
    architecture_ = "sm_90";
    block_ = 256;
    if (const auto compiler = find_gpu_compiler(); !compiler)
      GTEST_SKIP() << "1 check skipped: " << to_string(compiler.error());
  }
};

const std::string kBody = kInclude +
                          "PASSNET_KERNEL k(const T* x, T* out, int64_t n, float scale, bool b) {\n"
                          "  const int64_t i = passnet::global_index();\n"
                          "  if (i < n) out[i] = passnet::from_float<T>(passnet::to_float(x[i]) * scale);\n}\n";

TEST_F(GpuBuild, NamesEntryAndParameters) {
  const auto built = build(kBody, "k", {{"T", ir::DType::BFloat16}});
  ASSERT_TRUE(built) << to_string(built.error());
  EXPECT_EQ(built->entry, "k");
  EXPECT_EQ(built->object.extension(), ".cubin");
  EXPECT_THAT(built->parameters, ElementsAre("const bfloat16*", "bfloat16*", "int64_t", "float", "bool"));
  EXPECT_FALSE(built->from_cache);
  EXPECT_TRUE(build(kBody, "k", {{"T", ir::DType::BFloat16}})->from_cache);
}

TEST_F(GpuBuild, CompilesTheCopiesOfPlansFromEveryDtype) {
  const auto source = builtin_source(true);
  ASSERT_TRUE(source) << to_string(source.error());
  const auto text = read_file(*source);
  ASSERT_TRUE(text) << to_string(text.error());
  const ir::DType dtypes[] = {ir::DType::Float64, ir::DType::Float32, ir::DType::Float16, ir::DType::BFloat16,
                              ir::DType::Int64,   ir::DType::Int32,   ir::DType::Int16,   ir::DType::Int8,
                              ir::DType::UInt8,   ir::DType::Bool};
  for (const ir::DType from : dtypes) {
    for (const ir::DType to : {ir::DType::Float32, ir::DType::Float16, ir::DType::Int64, ir::DType::Bool}) {
      const auto built =
          build(*text, "passnet_copy", {{"FROM", from}, {"TO", to}, {"RANK", int64_t{2}}, {"DENSE", false}});
      ASSERT_TRUE(built) << to_string(built.error());
      EXPECT_EQ(built->parameters.size(), 27u);
    }
  }
}

TEST_F(GpuBuild, AnotherBlockOrArchitectureIsAnotherKernel) {
  const auto first = build(kBody, "k", {{"T", ir::DType::Float32}});
  ASSERT_TRUE(first) << to_string(first.error());
  block_ = 128;
  const auto second = build(kBody, "k", {{"T", ir::DType::Float32}});
  architecture_ = "sm_80";
  const auto third = build(kBody, "k", {{"T", ir::DType::Float32}});
  ASSERT_TRUE(second && third);
  EXPECT_NE(first->object, second->object);
  EXPECT_NE(second->object, third->object);
}

TEST_F(GpuBuild, TakesBlocksOfAnySize) {
  for (const int64_t block : {1, 31, 32, 33, 1024}) {
    block_ = block;
    EXPECT_TRUE(build(kBody, "k", {{"T", ir::DType::Float32}})) << block;
  }
}

TEST_F(GpuBuild, TakesConstantsOfEveryKind) {
  const std::string text = kChecksConstants + "static_assert(passnet::thread_count == 256);\n";
  EXPECT_EQ(error_of(text, "k", kConstantsOfEveryKind), "built");
}

TEST_F(GpuBuild, CompilersWordsStandAtTheKernelsLine) {
  const std::string error = error_of(kInclude + "PASSNET_KERNEL k(float* out) {\n  out[0] = undeclared;\n}\n");
  EXPECT_THAT(error, HasSubstr("Name.cu:3:1: error: identifier \"undeclared\" is undefined"));
}

TEST_F(GpuBuild, RefusesParametersThatAreNoElements) {
  EXPECT_THAT(error_of(kInclude + "struct S { int a; };\nPASSNET_KERNEL k(S s) {}\n"),
              HasSubstr("a kernel parameter is a pointer to elements, an integer, a float, a double or a bool"));
}

TEST_F(GpuBuild, RefusesStateBetweenLaunches) {
  EXPECT_EQ(error_of(kInclude + "__device__ int counter;\nPASSNET_KERNEL k(int32_t* out) { out[0] = ++counter; }\n"),
            "Name.cu:3:16: error: kernel 'k' has a variable 'counter' (.nv.global, 4 bytes) that outlives a launch\n"
            "hint: kernels may only use their arguments, __shared__ memory and registers");
  EXPECT_THAT(error_of(kInclude + "PASSNET_KERNEL k(int32_t* out) { static int32_t kept = 3; out[0] = ++kept; }\n"),
              HasSubstr("that outlives a launch"));
}

TEST_F(GpuBuild, RefusesWhatDoesMoreThanCompute) {
  const std::pair<const char*, const char*> cases[] = {
      {"out[0] = clock64();", "reads '%clock64'"},
      {"out[0] = clock();", "reads '%clock64'"},
      {"__nanosleep(100);", "holds the instruction 'nanosleep'"},
      {"__trap();", "holds the instruction 'trap'"},
      {"__brkpt();", "holds the instruction 'brkpt'"},
      {"printf(\"x\");", "calls 'vprintf'"},
      {"out[0] = *(int32_t*)malloc(4);", "calls 'malloc'"},
      {"free(out);", "calls 'free'"},
      {"__prof_trigger(1);", "holds the instruction 'pmevent'"},
  };
  for (const auto& [text, what] : cases) {
    EXPECT_EQ(
        error_of(kInclude + "PASSNET_KERNEL k(int32_t* out) { " + text + " }\n"),
        std::string("Name.cu:2:16: error: kernel 'k' ") + what +
            ", which kernels do not have\nhint: kernels compute on their arguments; passnet/kernel.h gives what they "
            "need for that")
        << text;
  }
  BuildOptions unscanned = options();
  unscanned.scan_code = false;
  const KernelRequest clock = request(kInclude + "PASSNET_KERNEL k(int32_t* out) { out[0] = clock(); }\n");
  EXPECT_TRUE(build_kernel(clock, unscanned));
  EXPECT_FALSE(build_kernel(clock, options()));  // what was kept then is not taken now
}

TEST(PtxCheck, ReadsWordsAndNoComments) {
  const auto check = [](std::string_view ptx) {
    const auto done = check_ptx(ptx, "k");
    return done ? "accepted" : done.error().message;
  };
  EXPECT_EQ(check("// trap; %clock64\n/* nanosleep */ .file 1 \"brkpt\"\nmov.u32 %r1, %tid.x;\n$trap: ret;"),
            "accepted");
  EXPECT_EQ(check(".extern .shared .align 16 .b8 s[];"), "accepted");
  EXPECT_EQ(check("mov.u64 %rd1, %globaltimer;"), "kernel 'k' reads '%globaltimer', which kernels do not have");
  EXPECT_EQ(check("griddepcontrol.wait;"),
            "kernel 'k' holds the instruction 'griddepcontrol', which kernels do not have");
  EXPECT_EQ(check(".extern .func  (.param .b64 r) cudaGetParameterBufferV2\n(\n.param .b64 a\n)\n;"),
            "kernel 'k' calls 'cudaGetParameterBufferV2', which kernels do not have");
  EXPECT_EQ(check("/* never ends trap"), "accepted");
}

TEST_F(GpuBuild, RefusesToPassForTheHeadersNames) {
  EXPECT_EQ(error_of(kInclude + "namespace passnet { __device__ int x; }\n"),
            "Name.cu:2:11: error: namespace 'passnet' belongs to passnet/kernel.h\n"
            "hint: use a namespace of another name, or none");
  EXPECT_EQ(error_of(kInclude + "__device__ int $str;\n"), "Name.cu:2:16: error: '$' is not allowed in a kernel");
}

TEST_F(GpuBuild, RefusesAssembly) {
  EXPECT_THAT(error_of(kInclude + "PASSNET_KERNEL k(float* out) { asm(\"ret;\"); }\n"),
              HasSubstr("Name.cu:2:32: error: 'asm' is not allowed in a kernel"));
}

TEST(GpuCompilerErrors, FirstErrorWithUpToTwoMore) {
  const KernelDefinition kernel{"k", {"Name.cu", 4, 16}};
  const Error error = parse_gpu_compiler_errors(
      "passnet-kernel(7): error: identifier \"a\" is undefined\n    a = 1;\n    ^\n\n"
      "passnet-kernel(9): error: expected a \";\"\n\n2 errors detected in the compilation of \"unit.cu\".\n",
      "Name.cu", kernel);
  EXPECT_EQ(to_string(error), "Name.cu:7:1: error: identifier \"a\" is undefined\nnote: Name.cu:9: expected a \";\"");
}

TEST(GpuCompilerErrors, WhatIsNoDiagnosticIsQuoted) {
  const Error error = parse_gpu_compiler_errors("nvcc fatal : sm_1 is unknown\n", "Name.cu", {"k", {"Name.cu", 4, 16}});
  EXPECT_EQ(to_string(error), "Name.cu:4:16: error: the compiler stopped: 'nvcc fatal : sm_1 is unknown'");
}

TEST(CubinCheck, TakesNoOtherFile) {
  EXPECT_EQ(to_string(check_cubin("text", "k", {}).error()), "error: not a cubin: shorter than an ELF header");
  EXPECT_EQ(to_string(check_cubin(std::string(200, 'x'), "k", {}).error()), "error: not a cubin: no ELF header");
}

}  // namespace
}  // namespace passnet::pass
