// Which machine code a kernel may hold. Objects are made by the compiler from assembly here, past the source filter.
#include "pass/kernel/check/code_check.h"

#include <gmock/gmock.h>

#include "kernel_fixture.h"
#include "pass/kernel/check/elf_check.h"
#include "pass/kernel/check/instruction.h"
#include "pass/kernel/compiler.h"
#include "tests/paths.h"

namespace passnet::pass {
namespace {

using namespace std::string_view_literals;
using testing::HasSubstr;

class CodeCheck : public KernelFixture {
 protected:
  /// Links `text` beside what every kernel exports; what check_object says, or "accepted".
  std::string check(const std::string& text, bool scan_code = true) {
    const auto unit = directory_ / "unit";
    EXPECT_TRUE(write_file(unit / "unit.cpp", text + kExports));
    const auto compiler = find_compiler();
    if (!compiler) return to_string(compiler.error());
    const CompileRequest request{unit, tests::source_dir() / "include", "Name.cpp", {"k", {}}};
    if (const auto done = compile_unit(*compiler, request); !done) return to_string(done.error());
    const auto checked = check_object(read_file(unit / "unit.so", FileKind::Lines).value(), "k", {.code = scan_code});
    return checked ? "accepted" : to_string(checked.error());
  }
  std::string check_assembly(const std::string& instructions, bool scan_code = true) {
    return check(
        "extern \"C\" void body(float* x) { asm volatile(\"" + instructions + "\" ::: \"memory\"); *x = 1; }\n",
        scan_code);
  }

  static constexpr const char* kExports =
      "struct Text { char text[8]; };\n"
      "__attribute__((section(\".passnet.parameters\"), used)) static constexpr Text passnet_parameter_text = "
      "{\"float*\"};\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) const char* passnet_parameters_k() { return "
      "passnet_parameter_text.text; }\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) void passnet_run_k(float* x) { *x = 2; }\n";
  static constexpr const char* kHint =
      "\nhint: kernels compute on their arguments; passnet/kernel.h gives what they need for that";
};

TEST_F(CodeCheck, RefusesWhatDoesMoreThanCompute) {
  const std::pair<const char*, const char*> cases[] = {
      {"syscall", "syscall"},
      {"sysenter", "sysenter"},
      {"int $0x80", "int"},
      {"rdtsc", "rdtsc"},
      {"rdtscp", "rdtscp"},
      {"rdpmc", "rdpmc"},
      {".byte 0x0f,0x01,0xfd", "rdpru"},
      {"cpuid", "cpuid"},
      {"wrpkru", "wrpkru"},
      {"rdpkru", "rdpkru"},
      {"xgetbv", "xgetbv"},
      {"xrstor (%%rax)", "xrstor"},
      {"xsave (%%rax)", "xsave"},
      {"xsavec (%%rax)", "xsavec"},
      {"fxrstor (%%rax)", "fxrstor"},
      {"ldmxcsr (%%rsp)", "ldmxcsr"},
      {"vldmxcsr (%%rsp)", "vldmxcsr"},
      {"fldcw (%%rsp)", "fldcw"},
      {"fninit", "fninit"},
      {"rdfsbase %%rax", "rdfsbase"},
      {"wrfsbase %%rax", "wrfsbase"},
      {"wrgsbase %%rax", "wrgsbase"},
      {"mov %%fs:0, %%rax", "an access by segment fs or gs"},
      {"hlt", "hlt"},
      {"cli", "cli"},
      {"std", "std"},
      {"popf", "popfq"},
      {"wrmsr", "wrmsr"},
      {"in $1, %%al", "in"},
      {"outsb", "outsb"},
      {"lretq", "far return"},
      {"iretq", "iretq"},
      {"ljmp *(%%rax)", "far jump"},
      {"lcall *(%%rax)", "far call"},
      {"monitor", "monitor"},
      {"umwait %%eax", "umwait"},
      {"tpause %%eax", "tpause"},
      {"umonitor %%rax", "umonitor"},
      {"clflush (%%rax)", "clflush"},
      {"rdrand %%eax", "rdrand"},
      {"rdpid %%rax", "rdpid"},
      {"xbegin 1f\\n1:", "xbegin"},
      {"mov %%cr0, %%rax", "mov of a control register"},
      {"swapgs", "swapgs"},
      {"xacquire lock addl $1, (%%rax)", "an elided lock"},
  };
  for (const auto& [text, name] : cases) {
    EXPECT_EQ(check_assembly(text), std::string("error: kernel 'k' holds the instruction '") + name +
                                        "' (in 'body'), which kernels may not have" + kHint)
        << text;
  }
  EXPECT_EQ(check_assembly("syscall", false), "accepted");
}

TEST_F(CodeCheck, TakesWhatCompilersMake) {
  for (const char* text : {"pause",
                           "mfence",
                           "lock addl $1, (%%rax)",
                           "rep movsb",
                           "ud2",
                           "int3",
                           "prefetcht0 (%%rax)",
                           "endbr64",
                           "vpternlogd $0x25, %%zmm1, %%zmm2, %%zmm3",
                           "vcvtneps2bf16 %%zmm1, %%ymm2",
                           "vfmadd231ph %%zmm1, %%zmm2, %%zmm3",
                           "vgatherdps (%%rax,%%zmm1,4), %%zmm2%{%%k1%}",
                           "vdpbf16ps %%zmm1, %%zmm2, %%zmm3",
                           "fnstcw (%%rsp)",
                           "fnstenv (%%rsp)",
                           "fldenv (%%rsp)",
                           "stmxcsr (%%rsp)",
                           "fisttpl (%%rsp)",
                           "movabs $0x1122334455667788, %%rax",
                           "cmpxchg16b (%%rax)",
                           "popcnt %%rax, %%rax",
                           "bswap %%eax",
                           "nopw %%cs:0x0(%%rax,%%rax,1)",
                           "bnd jmp 1f\\n1:",
                           ".byte 0xc4,0xe2,0x78,0x49,0xc0",       // tilerelease
                           ".byte 0xc4,0xe2,0x78,0x49,0x00",       // ldtilecfg (%rax)
                           ".byte 0xc4,0xe2,0x7b,0x4b,0x04,0x08",  // tileloadd (%rax,%rcx,1), %tmm0
                           ".byte 0xc4,0xe2,0x72,0x5c,0xc2"})      // tdpbf16ps %tmm1, %tmm2, %tmm0
    EXPECT_EQ(check_assembly(text), "accepted") << text;
}

TEST_F(CodeCheck, RefusesBytesThatAreNoInstruction) {
  EXPECT_EQ(
      check_assembly(".byte 0x06,0,0,0,0,0,0,0"),
      std::string("error: kernel 'k' has bytes among its code that are no instruction of a kernel: 06 00 00 00 00 "
                  "00 00 00 (in 'body')") +
          kHint);
  EXPECT_THAT(check_assembly(".byte 0xc4,0xe2,0x73,0x5e,0xc2"),
              HasSubstr("'tdpbssd'"));                                                           // of bytes
  EXPECT_THAT(check_assembly(".byte 0xd5,0x10,0x58"), HasSubstr("no instruction of a kernel"));  // APX
}

TEST_F(CodeCheck, RefusesJumpsIntoInstructions) {
  EXPECT_EQ(check_assembly("jmp 1f+1\\n1: mov $0x00c3050f, %%eax"),
            std::string("error: kernel 'k' jumps into the middle of an instruction (in 'body')") + kHint);
  EXPECT_EQ(check_assembly("je .+0x100000"),
            std::string("error: kernel 'k' jumps out of its code (in 'body')") + kHint);
}

TEST_F(CodeCheck, RefusesHiddenInstructionsWherePointersAreCalled) {
  const std::string hidden = "mov $0x00c3050f, %%eax";
  EXPECT_EQ(check_assembly(hidden), "accepted");
  EXPECT_EQ(check_assembly("call *%%rcx"), "accepted");
  EXPECT_EQ(check_assembly(hidden + "\\ncall *%%rcx"),
            "error: kernel 'k' calls through pointers and holds the bytes of 'syscall' inside other instructions\n"
            "hint: call functions by their names; what differs between them can be a template parameter");
}

TEST(DecodeInstruction, ReadsNothingBehindTheEnd) {
  for (const std::string_view whole :
       {"\x62\xf3\x65\x48\x23\xd0\x11"sv, "\x48\x8b\x84\x24\x00\x01\x00\x00"sv, "\xe8\x00\x00\x00\x00"sv,
        "\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08"sv, "\x66\x0f\x3a\x0f\xc1\x08"sv}) {
    EXPECT_EQ(decode_instruction(whole).length, whole.size());
    for (size_t size = 0; size < whole.size(); ++size) EXPECT_EQ(decode_instruction(whole.substr(0, size)).length, 0u);
  }
  EXPECT_EQ(decode_instruction(std::string(16, '\x66')).length, 0u);
}

TEST(DecodeInstruction, TakesNoPrefixesThatCompilersNeverWrite) {
  EXPECT_EQ(decode_instruction("\x66\x90"sv).length, 2u);
  EXPECT_EQ(decode_instruction("\x48\x66\x90"sv).length, 0u);              // a REX prefix before another one
  EXPECT_EQ(decode_instruction("\x66\xe9\x00\x00\x00\x00"sv).length, 0u);  // a branch of 16 bits, or not
}

TEST(DecodeInstruction, FindsWhereBranchesLead) {
  const Instruction direct = decode_instruction("\xe8\x10\x00\x00\x00"sv);
  EXPECT_EQ(direct.flow, Instruction::Flow::Direct);
  EXPECT_EQ(direct.target, 0x15);
  const Instruction linked = decode_instruction("\xff\x25\x10\x00\x00\x00"sv);
  EXPECT_EQ(linked.flow, Instruction::Flow::Indirect);
  EXPECT_EQ(linked.slot, 0x16);
  const Instruction of_32_bits = decode_instruction("\x67\xff\x25\x10\x00\x00\x00"sv);  // reads another address
  EXPECT_EQ(of_32_bits.flow, Instruction::Flow::Indirect);
  EXPECT_EQ(of_32_bits.slot, std::nullopt);
  EXPECT_EQ(decode_instruction("\xff\xe0"sv).slot, std::nullopt);
  EXPECT_EQ(decode_instruction("\xc3"sv).flow, Instruction::Flow::On);
}

TEST_F(CodeCheck, RefusesDataAmongCode) {
  EXPECT_EQ(check("__attribute__((section(\".text\"))) static const unsigned char code[] = {0x90, 0xc3};\n"
                  "extern \"C\" void body() { ((void (*)())code)(); }\n"),
            "error: kernel 'k' has data among its code: 'code'\nhint: remove the section attribute");
}

TEST_F(CodeCheck, RefusesSectionsItDoesNotKnow) {
  const std::string hint = "\nhint: remove the section attribute";
  EXPECT_EQ(check("__attribute__((section(\"mine\"), used)) static const int data = 5;\n"),
            "error: kernel 'k' has a section 'mine' (4 bytes), which kernels do not have" + hint);
  EXPECT_EQ(check("__attribute__((section(\".text.mine\"))) extern \"C\" void body() {}\n"), "accepted");
}

TEST_F(CodeCheck, RefusesParametersThatTheKernelWroteItself) {
  EXPECT_EQ(check("__attribute__((section(\".passnet.parameters\"), used)) static const char mine[] = \"double*\";\n"),
            "error: kernel 'k' writes to the section .passnet.parameters, which belongs to passnet/kernel.h\n"
            "hint: remove the section attribute");
}

}  // namespace
}  // namespace passnet::pass
