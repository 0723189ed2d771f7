// Kernels for a GPU, compiled without one: what they may say and do, and the words for what they may not.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/file/file.h"
#include "kernel_fixture.h"
#include "pass/kernel/check/cubin_check.h"
#include "pass/kernel/check/cubin_variables.h"
#include "pass/kernel/check/ptx_check.h"
#include "pass/kernel/gpu_compiler.h"
#include "tests/tiers.h"

namespace passnet::pass {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

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
  const auto text = read_file(*source, FileKind::Lines);
  ASSERT_TRUE(text) << to_string(text.error());
  const ir::DType dtypes[] = {ir::DType::Float64, ir::DType::Float32, ir::DType::Float16, ir::DType::BFloat16,
                              ir::DType::Int64,   ir::DType::Int32,   ir::DType::Int16,   ir::DType::Int8,
                              ir::DType::UInt8,   ir::DType::Bool};
  size_t turn = 0;
  for (const ir::DType from : dtypes) {
    for (const ir::DType to : {ir::DType::Float32, ir::DType::Float16, ir::DType::Int64, ir::DType::Bool}) {
      if (turn++ % 3 != 0 && !full_tier()) continue;
      const auto built =
          build(*text, "passnet_copy", {{"FROM", from}, {"TO", to}, {"RANK", int64_t{2}}, {"DENSE", false}});
      ASSERT_TRUE(built) << to_string(built.error());
      EXPECT_EQ(built->parameters.size(), 27u);
    }
  }
}

TEST_F(GpuBuild, ComputesProductsInTiles) {
  const std::string body = kInclude + R"(using namespace passnet;
PASSNET_KERNEL k(const T* x, const T* y, const T* bias, T* out) {
  const Divided<ceil_div(int64_t(COLUMNS), int64_t(TILE_COLUMNS))> tile(task_index() / CLUSTER);
  const auto left = in_memory<Neighbours::AlongDepth, PACK>([&](int64_t row, int64_t k) { return x + row * DEPTH + k; });
  const auto right = computed<Neighbours::AcrossDepth>([&](int64_t column, int64_t k) {
    return from_float<T>(relu(to_float(y[k * COLUMNS + column])));
  });
  product_tile<T, TILE_ROWS, TILE_COLUMNS, CLUSTER>(tile.quotient, tile.remainder, ROWS, COLUMNS, DEPTH, left, right,
                                                    [&](int64_t row) {
    return [=](int64_t column, float sum) {
      out[row * COLUMNS + column] = from_float<T>(sum + load<1>(bias + column)[0]);
    };
  });
}
)";
  block_ = 128;
  const auto built_of = [&](ir::DType dtype, int64_t rows, int64_t columns, int64_t pack, int64_t cluster = 1) {
    return build(body, "k",
                 {{"T", dtype},
                  {"ROWS", int64_t{100}},
                  {"COLUMNS", int64_t{200}},
                  {"DEPTH", int64_t{64}},
                  {"TILE_ROWS", rows},
                  {"TILE_COLUMNS", columns},
                  {"PACK", pack},
                  {"CLUSTER", cluster}});
  };
  for (const auto& built : {built_of(ir::DType::Float16, 32, 128, 8), built_of(ir::DType::BFloat16, 64, 64, 1),
                            built_of(ir::DType::Float32, 128, 128, 4), built_of(ir::DType::Float32, 128, 32, 1),
                            built_of(ir::DType::Float16, 32, 32, 8, 8), built_of(ir::DType::Float32, 64, 64, 1, 2)})
    EXPECT_TRUE(built) << to_string(built.error());
  const auto of_48 = built_of(ir::DType::Float16, 48, 48, 8);
  ASSERT_FALSE(of_48);
  EXPECT_THAT(of_48.error().message, HasSubstr("a side of a tile is 32, 64 or 128"));
  const auto of_3 = built_of(ir::DType::Float16, 32, 32, 8, 3);
  ASSERT_FALSE(of_3);
  EXPECT_EQ(of_3.error().message, "constant CLUSTER, the blocks of a cluster on a GPU: found 3, expected 1, 2, 4 or 8");
  architecture_ = "sm_80";
  EXPECT_TRUE(built_of(ir::DType::Float16, 32, 32, 8, 8));
  block_ = 256;
  const auto by_256 = built_of(ir::DType::Float16, 128, 128, 8);
  ASSERT_FALSE(by_256);
  EXPECT_THAT(by_256.error().message, HasSubstr("a tile has 128 threads"));
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

TEST_F(GpuBuild, TakesTheTablesOfCudasLibrary) {
  const std::pair<const char*, const char*> cases[] = {
      {"float", "sinf(x[0]) + cosf(x[1]) + tanf(x[2]) + j0f(x[3]) + lgammaf(x[4]) + erfinvf(x[5]) + powf(x[6], x[7])"},
      {"double", "sin(x[0]) + cos(x[1]) + tan(x[2]) + j0(x[3]) + lgamma(x[4]) + erfinv(x[5]) + pow(x[6], x[7])"},
  };
  for (const auto& [type, expression] : cases) {
    const std::string text =
        fmt::format("PASSNET_KERNEL k(const {0}* x, {0}* out) {{ out[0] = {1}; }}\n", type, expression);
    EXPECT_EQ(error_of(kInclude + text), "built");
  }
}

TEST_F(GpuBuild, RefusesOtherTablesByTheirName) {
  const std::string numbers[] = {"0x3c439041, 0xdb629599, 0xf534ddc0, 0xfc2757d1, 0x4e441529, 0xa2f9836e",
                                 "0x3c439041, 0xdb629599, 0xf534ddc0, 0xfc2757d1, 0x4e441529, 0xa2f9836f"};
  const auto declared = [&](const std::string& name, const std::string& values, size_t count = 6) {
    return error_of(
        fmt::format("{}extern \"C\" __device__ uint32_t {}[{}] = {{{}}};\nPASSNET_KERNEL k(int32_t* out) {{ out[0] = "
                    "{}[1]++; }}\n",
                    kInclude, name, count, values, name));
  };
  EXPECT_EQ(declared("__cudart_i2opi_f", numbers[0]), "built");  // what writes to it is found when it runs
  EXPECT_EQ(
      declared("__cudart_i2opi_f", numbers[1]),
      "Name.cu:3:16: error: kernel 'k' has a variable '__cudart_i2opi_f' (.nv.global.init, 24 bytes) that outlives "
      "a launch\nhint: tables of CUDA's library are taken with the numbers that they have in CUDA 12.4 to 13.0");
  EXPECT_THAT(declared("__cudart_i2opi_f", numbers[0], 7), HasSubstr("28 bytes) that outlives a launch"));
  EXPECT_THAT(declared("__cudart_i2opi_f", "0"), HasSubstr("(.nv.global, 24 bytes) that outlives a launch"));
  EXPECT_THAT(declared("__cudart_i2opi_d", numbers[0]), HasSubstr("that outlives a launch"));
  EXPECT_THAT(declared("i2opi", numbers[0]), HasSubstr("variable 'i2opi' (.nv.global.init, 24 bytes)"));
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
            "hint: use another name");
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

TEST_F(GpuBuild, TablesAreReadFromTheCubin) {
  const std::string text = kInclude + "PASSNET_KERNEL k(const float* x, float* out) { out[0] = sinf(x[0]) * N; }\n";
  const auto built = build(text, "k", {{"N", int64_t{3}}});
  ASSERT_TRUE(built) << to_string(built.error());
  auto cubin = read_file(built->object, FileKind::Lines);
  ASSERT_TRUE(cubin);
  const auto variables = read_cubin_variables(*cubin);
  ASSERT_TRUE(variables) << to_string(variables.error());
  std::vector<std::string> names;
  const CubinVariable* table = nullptr;
  for (const CubinVariable& variable : *variables) {
    names.push_back(fmt::format("{} {}", variable.name, variable.size));
    if (variable.name == "__cudart_i2opi_f") table = &variable;
  }
  EXPECT_THAT(names, UnorderedElementsAre("N 8", "__cudart_i2opi_f 24", "passnet_parameters_k 1024"));
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->bytes.substr(20), "\x6e\x83\xf9\xa2");  // 2/pi = 0.a2f9836e… in hexadecimal
  const std::vector<NamedConstant> constants = {{"N", int64_t{3}}};
  EXPECT_TRUE(check_cubin(*cubin, "k", constants));
  for (const size_t i : {size_t{0}, table->size - 1}) {
    std::string other = *cubin;
    const size_t at = other.find(table->bytes);
    ASSERT_NE(at, std::string::npos);
    ++other[at + i];
    EXPECT_THAT(to_string(check_cubin(other, "k", constants).error()), HasSubstr("'__cudart_i2opi_f'")) << i;
  }
}

TEST(CubinCheck, TakesNoOtherFile) {
  EXPECT_EQ(to_string(check_cubin("text", "k", {}).error()), "error: not a cubin: shorter than an ELF header");
  EXPECT_EQ(to_string(check_cubin(std::string(200, 'x'), "k", {}).error()), "error: not a cubin: no ELF header");
}

}  // namespace
}  // namespace passnet::pass
