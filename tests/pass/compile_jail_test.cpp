// What foreign text can reach while it is compiled: past the source filter, nothing but the compiler's own files.
#include <gmock/gmock.h>

#include "kernel_fixture.h"
#include "pass/kernel/compiler.h"
#include "pass/kernel/tool_files.h"
#include "sandbox/empty_root.h"
#include "sandbox/isolation.h"
#include "tests/paths.h"

namespace passnet::pass {
namespace {

using testing::HasSubstr;
using testing::Not;

class CompileJail : public KernelFixture {
 protected:
  void SetUp() override {
    if (!sandbox::namespaces_available() || !sandbox::empty_root_available())
      GTEST_SKIP() << "1 check skipped: the kernel gives no root of one's own here";
  }
  /// Compiles a text as no filter would let it through; the error, or "compiled".
  std::string compile(const std::string& text) {
    const auto unit = directory_ / "unit";
    EXPECT_TRUE(write_file(unit / "unit.cpp", text));
    const auto compiler = find_compiler();
    if (!compiler) return to_string(compiler.error());
    const CompileRequest request{unit, tests::source_dir() / "include", "Name.cpp", {"k", {}}};
    const auto done = compile_unit(*compiler, request);
    return done ? "compiled" : to_string(done.error());
  }
};

TEST_F(CompileJail, FindsNoFileOfThisMachine) {
  const std::string secret = (directory_ / "secret.txt").string();
  ASSERT_TRUE(write_file(secret, "int secret = 1;\n"));
  EXPECT_EQ(compile("int x;\n"), "compiled");
  for (const std::string& file : {secret, std::string("/etc/passwd"), std::string("/proc/self/maps"),
                                  std::string("/usr/include/stdio.h"), std::string("/dev/null")}) {
    EXPECT_THAT(compile("asm(\".incbin \\\"" + file + "\\\"\");\n"), HasSubstr("file not found: " + file)) << file;
    EXPECT_THAT(compile("#include \"" + file + "\"\n"), HasSubstr("No such file or directory")) << file;
    EXPECT_EQ(compile("#if __has_include(\"" + file + "\")\n#error seen\n#endif\n"), "compiled") << file;
  }
}

TEST_F(CompileJail, HoldsTheFilesThatTheCompilerIsMadeOf) {
  const auto compiler = find_compiler();
  ASSERT_TRUE(compiler) << to_string(compiler.error());
  const auto files = compiler_files(compiler->path);
  ASSERT_TRUE(files) << to_string(files.error());
  const std::string all = testing::PrintToString(files->paths);
  for (const char* part : {"/cc1plus", "/collect2", "libgcc.a", "libc.so", "/include"})
    EXPECT_THAT(all, HasSubstr(part));
  for (const std::string& path : files->paths) {
    EXPECT_TRUE(std::filesystem::exists(path)) << path;
    EXPECT_THAT(path, testing::StartsWith("/"));
    EXPECT_THAT(path, Not(testing::AnyOf("/", "/usr", "/usr/bin", "/usr/lib", "/lib", "/usr/include"))) << path;
  }
}

TEST(ToolFiles, SayWhatIsNoProgram) {
  const ScratchDirectory scratch;
  const std::string path = (scratch.path / "script").string();
  ASSERT_TRUE(write_file(path, "#!/bin/sh\n"));
  EXPECT_EQ(to_string(loaded_files({path}).error()), "error: '" + path + "' is no program of this machine");
}

}  // namespace
}  // namespace passnet::pass
