// What a pass's own Python can reach while Triton compiles it: nothing but its answer, which is not believed.
#include <gmock/gmock.h>

#include "pass/kernel/check/ptx_check.h"
#include "pass/triton/launch_facts.h"
#include "sandbox/empty_root.h"
#include "sandbox/isolation.h"
#include "tests/paths.h"
#include "triton_fixture.h"

namespace passnet::pass {
namespace {

using testing::HasSubstr;

class TritonJail : public TritonFixture {
 protected:
  /// A module that runs `code` when it is imported; what it then says by `raise Exception(…)`.
  static TritonRequest hostile(const std::string& code) {
    return TritonFixture::request(code + "\n" + kTritonImports + "@triton.jit\ndef k(x):\n    tl.store(x, 1.0)\n", "k",
                                  {pointer("x", "fp32")});
  }
};

TEST_F(TritonJail, ModulesCanDoNothingButCompute) {
  const std::pair<const char*, const char*> cases[] = {
      {"open('x', 'w')", "PermissionError"},
      {"open('request.json', 'a')", "PermissionError"},
      {"os.remove('request.json')", "PermissionError"},
      {"os.mkdir('x')", "PermissionError"},
      {"os.rename('0.log', '1.out')", "PermissionError"},
      {"os.fork()", "PermissionError"},
      {"subprocess.run(['/bin/true'])", "PermissionError"},
      {"os.execv('/bin/true', ['true'])", "PermissionError"},
      {"socket.socket()", "PermissionError"},
      {"os.kill(os.getppid(), 9)", "PermissionError"},
      {"os.kill(os.getpid(), 9)", "PermissionError"},
      {"os.setsid()", "PermissionError"},
      {"os.memfd_create('x')", "PermissionError"},
  };
  std::vector<TritonRequest> requests;
  for (const auto& [code, what] : cases)
    requests.push_back(hostile(std::string("import os, socket, subprocess\n") + code));
  const auto built = build(requests);
  for (size_t i = 0; i < built.size(); ++i) {
    ASSERT_FALSE(built[i]) << cases[i].first;
    EXPECT_THAT(to_string(built[i].error()), HasSubstr(cases[i].second)) << cases[i].first;
  }
}

TEST_F(TritonJail, ModulesSeeNoFileOfThisMachine) {
  if (!sandbox::namespaces_available() || !sandbox::empty_root_available())
    GTEST_SKIP() << "1 check skipped: the kernel gives no root of one's own here";
  for (const std::string& file : std::vector<std::string>{"/etc/passwd", "/proc/self/maps", "/dev/null", "/usr/bin/env",
                                                          (tests::source_dir() / "README.md").string()})
    EXPECT_THAT(error_of(hostile("import os\nos.stat('" + file + "')")), HasSubstr("FileNotFoundError")) << file;
}

TEST_F(TritonJail, OneThatHangsIsEnded) {
  TritonOptions short_of_time = options();
  short_of_time.timeout_s = 2;
  const std::string forever =
      kTritonImports +
      "@triton.jit\ndef k(x):\n    for i in tl.static_range(100000000):\n        tl.store(x + i, 1.0)\n";
  const std::vector<TritonRequest> requests = {hostile("while True: pass"), hostile("import time\ntime.sleep(1000)"),
                                               TritonFixture::request(forever, "k", {pointer("x", "fp32")})};
  for (const auto& built : build_triton_kernels(requests, short_of_time))
    EXPECT_EQ(built ? "built" : to_string(built.error()),
              "Name.py:4:5: error: compiling kernel 'k' takes more than 2 s of time");
}

TEST_F(TritonJail, OneThatEatsMemoryOrCrashesIsAlone) {
  TritonOptions short_of_memory = options();
  short_of_memory.memory_bytes = int64_t{2} << 30;
  const std::vector<TritonRequest> requests = {
      hostile("x = [bytes(1 << 28) for _ in range(1000)]"),
      hostile("import ctypes\nctypes.string_at(0)"),
      hostile("import os\nos._exit(0)"),
      hostile("import os\nos._exit(7)"),
      add_request(),
  };
  const auto built = build_triton_kernels(requests, short_of_memory);
  const auto words = [&](size_t i) { return built[i] ? "built" : to_string(built[i].error()); };
  EXPECT_EQ(words(0), "Name.py:4:5: error: compiling kernel 'k' takes more than 2048 MB of memory");
  EXPECT_EQ(words(1), "Name.py:4:5: error: Triton crashes on kernel 'k' (signal 11)");
  EXPECT_EQ(words(2), "Name.py:4:5: error: kernel 'k' answers for Triton: ''");
  EXPECT_EQ(words(3), "Name.py:4:5: error: Triton crashes on kernel 'k' (exit 7)");
  EXPECT_EQ(words(4), "built");
}

/// A module that writes this answer in place of Triton, where each child has its descriptor.
std::string forging(const std::string& answer) { return "import os\nos.write(3, " + answer + ")\nos._exit(0)"; }
const std::string kForgedFacts =
    R"({"ptx": true, "entry": "k", "warps": WARPS, "cluster": 1, "shared_bytes": SHARED, "tensor_columns": 0, "scratch": []})";
std::string forged(const std::string& ptx, const std::string& warps = "4", const std::string& shared = "0") {
  std::string facts = kForgedFacts;
  facts.replace(facts.find("WARPS"), 5, warps);
  facts.replace(facts.find("SHARED"), 6, shared);
  return forging("b'''" + facts + "\\n" + ptx + "'''");
}
const std::string kForgedHead = ".version 8.0\\n.target sm_90a\\n.address_size 64\\n";
const std::string kForgedEntry = ".visible .entry k(.param .u64 a)\\n.reqntid 128\\n{\\n";

TEST_F(TritonJail, ForgedAnswersAreChecked) {
  const std::string body = kForgedHead + kForgedEntry + "ret;\\n}\\n";
  const std::string where = "Name.py:4:5: error: ",
                    other = where + "kernel 'k' has PTX that is not that of its signature";
  const std::pair<std::string, std::string> cases[] = {
      {forged(body), "built"},  // no more than it could have written in Triton
      {forged(kForgedHead + ".visible .entry k(.param .u64 a)\\n.reqntid 1024\\n{\\nret;\\n}\\n", "32"),
       "built"},  // the most
      {forged(kForgedHead + ".visible .entry k(.param .u64 a)\\n.reqntid 1024\\n{\\nret;\\n}\\n", "33"),
       where + "kernel 'k' answers for Triton: its launch is one that no GPU has"},
      {forged(body, "8"), other},
      {forged(body, "0"), where + "kernel 'k' answers for Triton: its launch is one that no GPU has"},
      {forged(body, "4", "-1"), where + "kernel 'k' answers for Triton: its launch is one that no GPU has"},
      {forged(kForgedHead + ".visible .entry other(.param .u64 a)\\n.reqntid 128\\n{ret;}"), other},
      {forged(kForgedHead + ".visible .entry k(.param .u64 a, .param .b8 b[4000])\\n.reqntid 128\\n{ret;}"), other},
      {forged(kForgedHead + ".visible .entry k(.param .b8 a[64])\\n.reqntid 128\\n{ret;}"), other},
      {forged(body + kForgedEntry + "}"),
       where +
           "the PTX of the kernel is of another form than Triton writes: found '.entry' in what should be one kernel"},
      {forging("b'{}'"), where + "kernel 'k' answers for Triton: '{}'"},
      {forged("nothing"), where +
                              "the PTX of the kernel is of another form than Triton writes: found 'no .entry' in what "
                              "should be a kernel"},
      {forged(kForgedHead + kForgedEntry + "nonsense;\\n}\\n"),
       where + "ptxas refuses the PTX of kernel 'k': 'ptxas unit.ptx, line 7; error   : Not a name of any known "
               "instruction: 'nonsense''"},
      {forged(kForgedHead + ".global .b32 kept;\\n" + kForgedEntry +
              ".reg .b32 %r;\\nld.global.b32 %r, [kept];\\n"
              "st.global.b32 [kept], %r;\\nret;\\n}\\n"),
       where +
           "kernel 'k' has a variable 'kept' (.nv.global, 4 bytes) that outlives a launch\nhint: kernels may only use "
           "their arguments, shared memory and registers"},
  };
  std::vector<TritonRequest> requests;
  for (const auto& [code, expected] : cases) requests.push_back(hostile(code));
  const auto built = build(requests);
  for (size_t i = 0; i < built.size(); ++i)
    EXPECT_EQ(built[i] ? "built" : to_string(built[i].error()), cases[i].second) << cases[i].first;
}

TEST_F(TritonJail, PtxThatDoesMoreThanComputeIsRefused) {
  const auto with = [](const std::string& assembly) {
    return TritonFixture::request(kTritonImports + "@triton.jit\ndef k(x):\n    v = tl.inline_asm_elementwise('" +
                                      assembly +
                                      "', '=r,r', [tl.program_id(0)], dtype=tl.int32, is_pure=False, pack=1)\n    "
                                      "tl.store(x, v.to(tl.float32))\n",
                                  "k", {pointer("x", "fp32")});
  };
  const std::pair<std::string, std::string> cases[] = {
      {"mov.u32 $0, $1;", "built"},
      {"mov.u32 $0, %globaltimer_lo;", "reads '%globaltimer_lo'"},
      {"mov.u32 $0, %clock;", "reads '%clock'"},
      {"mov.u32 $0, %gridid;", "reads '%gridid'"},
      {"nanosleep.u32 100; mov.u32 $0, $1;", "holds the instruction 'nanosleep'"},
      {"trap; mov.u32 $0, $1;", "holds the instruction 'trap'"},
      {"griddepcontrol.wait; mov.u32 $0, $1;", "holds the instruction 'griddepcontrol'"},
  };
  std::vector<TritonRequest> requests;
  for (const auto& [assembly, expected] : cases) requests.push_back(with(assembly));
  requests.push_back(
      TritonFixture::request(kTritonImports + "@triton.jit\ndef k(x):\n    tl.device_print(\"x\", tl.load(x))\n", "k",
                             {pointer("x", "fp32")}));
  requests.push_back(TritonFixture::request(
      kTritonImports + "@triton.jit(debug=True)\ndef k(x):\n    tl.device_assert(tl.load(x) > 0, \"x\")\n", "k",
      {pointer("x", "fp32")}));
  const auto built = build(requests);
  const std::string hint =
      ", which kernels do not have\nhint: kernels compute on their arguments: leave out printing, asserts "
      "(debug=True), "
      "clocks and assembly that waits";
  const auto words = [&](size_t i) { return built[i] ? "built" : to_string(built[i].error()); };
  EXPECT_EQ(words(0), "built");
  for (size_t i = 1; i < std::size(cases); ++i)
    EXPECT_EQ(words(i), "Name.py:4:5: error: kernel 'k' " + cases[i].second + hint);
  EXPECT_EQ(words(std::size(cases)), "Name.py:4:5: error: kernel 'k' calls 'vprintf'" + hint);
  EXPECT_EQ(words(std::size(cases) + 1), "Name.py:4:5: error: kernel 'k' calls '__assertfail'" + hint);
}

TEST(PtxCheck, RefusesWhatPtxasCouldReadInAnotherWay) {
  const auto check = [](std::string_view ptx) {
    const auto done = check_ptx(ptx, "k");
    return done ? "accepted" : done.error().message;
  };
  EXPECT_EQ(check("#define x\n"), "kernel 'k' holds the text '#', which kernels do not have");
  EXPECT_EQ(check(".pragma \"a\\\"; mov.u64 %rd1, %globaltimer; .pragma \"b\";"),
            "kernel 'k' holds the text '\"a\\\"', which kernels do not have");
  EXPECT_EQ(check("// a\rmov.u64 %rd1, %globaltimer;"),
            "kernel 'k' holds the character '\\x0d', which kernels do not have");
}

TEST(PtxEntry, ReadsNameParametersAndBlock) {
  const auto entry = read_ptx_entry(
      ".version 8.7\n.target sm_90a\n.visible .entry k( // c\n\t.param .u64 .ptr .global .align 1 k_param_0,\n"
      "\t.param .u32 k_param_1, .param .align 4 .b8 c[12]\n)\n.reqntid 128\n{\n.reg .pred %p<3>;\nret;\n}\n");
  ASSERT_TRUE(entry) << to_string(entry.error());
  EXPECT_EQ(entry->name, "k");
  EXPECT_THAT(entry->parameters, testing::ElementsAre(8, 4, 12));
  EXPECT_EQ(entry->threads, 128);
  EXPECT_EQ(entry->target, "sm_90a");
  EXPECT_EQ(read_ptx_entry(".entry k() .maxntid 64, 2, 1 .minnctapersm 1 { ret; }")->threads, 128);
  EXPECT_THAT(read_ptx_entry(".entry k { ret; }")->parameters, testing::IsEmpty());
  for (const char* odd : {".entry k(", ".entry k(.param x)", ".entry k(.param .u64 .u32 x)",
                          ".entry k(.param .u64 x[y])", ".entry k() .reqntid x {}", ".entry k() .reqntid 64, {}", ""})
    EXPECT_FALSE(read_ptx_entry(odd)) << odd;
}

}  // namespace
}  // namespace passnet::pass
