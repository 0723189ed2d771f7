// What a kernel may say and do: every refusal with its exact text.
#include "pass/kernel/build.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <thread>

#include "base/hash.h"
#include "kernel_fixture.h"
#include "pass/kernel/check/elf_check.h"
#include "pass/kernel/compiler.h"
#include "pass/kernel/kernel_source.h"
#include "pass/kernel/object_seal.h"
#include "tests/paths.h"

namespace passnet::pass {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kEmpty = kInclude + "PASSNET_KERNEL k(float* out) { out[0] = 1; }\n";

using Build = KernelFixture;

TEST_F(Build, NamesEntryAndParameters) {
  const auto built = build(kInclude +
                               "PASSNET_KERNEL k(const T* x, const passnet::bfloat16* __restrict y, double* "
                               "z, bool* m, int64_t n, "
                               "int32_t i, float f, double d, bool b, const uint8_t* u) {}\n",
                           "k", {{"T", ir::DType::Float16}});
  ASSERT_TRUE(built) << to_string(built.error());
  EXPECT_EQ(built->entry, "passnet_run_k");
  EXPECT_THAT(built->parameters, ElementsAre("const float16*", "const bfloat16*", "double*", "bool*", "int64_t",
                                             "int32_t", "float", "double", "bool", "const uint8_t*"));
  EXPECT_FALSE(built->from_cache);
}

TEST_F(Build, TakesConstantsOfEveryKind) {
  const auto built = build(kChecksConstants, "k", kConstantsOfEveryKind);
  ASSERT_TRUE(built) << to_string(built.error());
  EXPECT_THAT(built->parameters, ElementsAre("int64_t*"));
}

TEST_F(Build, KeepsWhatItBuilt) {
  ASSERT_TRUE(build(kEmpty));
  const auto again = build(kEmpty);
  EXPECT_TRUE(again->from_cache);
  EXPECT_TRUE(std::filesystem::exists(again->object));
  EXPECT_FALSE(build(kEmpty, "k", {{"N", int64_t{1}}})->from_cache);
  EXPECT_FALSE(build(kEmpty + "// changed\n")->from_cache);
}

TEST_F(Build, LeavesOnlyObjectsAndTheirSealsInTheCache) {
  ASSERT_TRUE(build(kEmpty));
  EXPECT_NE(error_of("PASSNET_KERNEL k() { x }"), "built");
  std::multiset<std::string> extensions;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ / "cache")) {
    if (entry.is_regular_file()) extensions.insert(entry.path().extension());
  }
  EXPECT_THAT(extensions, ElementsAre(".seal", ".so"));
}

TEST_F(Build, BuildsADamagedObjectAgain) {
  const auto object = build(kEmpty)->object;
  const std::string bytes = read_file(object, FileKind::Lines).value();
  for (const std::string& damaged : {std::string(), bytes.substr(0, bytes.size() / 2), std::string("text")}) {
    ASSERT_TRUE(write_file(object, damaged));
    const auto built = build(kEmpty);
    ASSERT_TRUE(built);
    EXPECT_FALSE(built->from_cache);
    EXPECT_TRUE(build(kEmpty)->from_cache);
  }
}

TEST_F(Build, TellsTheHashOfItsObject) {
  const auto built = build(kEmpty);
  ASSERT_TRUE(built);
  EXPECT_EQ(built->sha256, sha256_hex(read_file(built->object, FileKind::Lines).value()));
  EXPECT_EQ(build(kEmpty)->sha256, built->sha256);
}

TEST_F(Build, BuildsASwappedObjectAgain) {
  const auto wanted = build(kEmpty);
  const auto other = build(kInclude + "PASSNET_KERNEL k(float* out) { out[0] = 2; }\n");
  ASSERT_TRUE(wanted && other);
  const std::string good = read_file(wanted->object, FileKind::Lines).value(),
                    swapped = read_file(other->object, FileKind::Lines).value();
  const std::filesystem::path seal = wanted->object.string() + ".seal";
  const std::string own_seal = read_file(seal, FileKind::Lines).value();
  const std::string other_seal = read_file(other->object.string() + ".seal", FileKind::Lines).value();
  const std::string plain = sha256_hex(swapped) + own_seal.substr(64);
  for (const std::string& text : {own_seal, other_seal, plain, std::string()}) {
    ASSERT_TRUE(write_file(wanted->object, swapped));
    ASSERT_TRUE(write_file(seal, text));
    const auto again = build(kEmpty);
    ASSERT_TRUE(again);
    EXPECT_FALSE(again->from_cache);
    EXPECT_EQ(read_file(again->object, FileKind::Lines).value(), good);
    EXPECT_EQ(read_file(seal, FileKind::Lines).value(), own_seal);
    EXPECT_TRUE(build(kEmpty)->from_cache);
  }
}

TEST(ObjectSeal, TellsWhatIsBroken) {
  const ScratchDirectory scratch;
  const auto object = scratch.path / "a.so";
  EXPECT_EQ(broken_seal(object, "secret", "key", "bytes"), "it has no seal");
  ASSERT_TRUE(write_seal(object, "secret", "key", "bytes"));
  EXPECT_EQ(broken_seal(object, "secret", "key", "bytes"), "");
  EXPECT_EQ(broken_seal(object, "secret", "key", "other"), "its bytes are not those that were built");
  EXPECT_EQ(broken_seal(object, "secret", "other", "bytes"), "its seal was not made here");
  EXPECT_EQ(broken_seal(object, "another", "key", "bytes"), "its seal was not made here");
}

/// With a passnet_home of its own.
class InstallationSecret : public testing::Test {
 protected:
  InstallationSecret() { ::setenv("PASSNET_HOME", (scratch_.path / "home").c_str(), 1); }
  ~InstallationSecret() override {
    if (before_)
      ::setenv("PASSNET_HOME", before_->c_str(), 1);
    else
      ::unsetenv("PASSNET_HOME");
  }
  const std::optional<std::string> before_ =
      std::getenv("PASSNET_HOME") ? std::optional<std::string>(std::getenv("PASSNET_HOME")) : std::nullopt;
  const ScratchDirectory scratch_;
  const std::filesystem::path file_ = scratch_.path / "home/kernel.key";
};

TEST_F(InstallationSecret, IsMadeOnceForThisUserAlone) {
  std::optional<Result<std::string>> found[2];
  {
    std::jthread first([&] { found[0] = installation_secret(); });
    std::jthread second([&] { found[1] = installation_secret(); });
  }
  ASSERT_TRUE(*found[0] && *found[1]);
  EXPECT_EQ(**found[0], **found[1]);
  EXPECT_EQ((*found[0])->size(), 64u);
  EXPECT_EQ(installation_secret().value(), **found[0]);
  EXPECT_EQ(std::filesystem::status(file_).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file_.parent_path()), {}), 1);
}

TEST_F(InstallationSecret, IsNotTakenFromAFileThatOthersMayRead) {
  ASSERT_TRUE(installation_secret());
  std::filesystem::permissions(file_, std::filesystem::perms(0644));
  EXPECT_EQ(to_string(installation_secret().error()),
            "error: '" + file_.string() + "' is not a secret of this user alone\nhint: remove it; another is made");
}

TEST_F(Build, TakesAMebibyteOfSource) {
  const std::string head = kEmpty + "/*", tail = "*/\n";
  const size_t filled = (size_t{1} << 20) - head.size() - tail.size();
  EXPECT_EQ(error_of(head + std::string(filled, ' ') + tail), "built");
  EXPECT_EQ(error_of(head + std::string(filled + 1, ' ') + tail),
            "Name.cpp: error: the file is too large: found 1048577 bytes, expected at most 1048576");
}

TEST_F(Build, TwoAtOnceGetTheSameObject) {
  const KernelRequest wanted = request(kEmpty);
  std::optional<Result<BuiltKernel>> results[2];
  {
    std::jthread first([&] { results[0] = build_kernel(wanted, options()); });
    std::jthread second([&] { results[1] = build_kernel(wanted, options()); });
  }
  ASSERT_TRUE(*results[0] && *results[1]);
  EXPECT_EQ((*results[0])->object, (*results[1])->object);
}

TEST_F(Build, NamesTheKernelsThereAre) {
  EXPECT_EQ(error_of(kInclude + "PASSNET_KERNEL add_relu(float*) {}\nPASSNET_KERNEL other(float*) {}\n", "add_rely"),
            "Name.cpp: error: no kernel 'add_rely' here, only 'add_relu', 'other'\nhint: did you mean 'add_relu'?");
  EXPECT_EQ(error_of("void k() {}\n"), "Name.cpp: error: no kernel 'k' here: found no 'PASSNET_KERNEL k(…)'");
}

TEST_F(Build, GivesTheCompilersFirstErrorsAtTheirPlace) {
  EXPECT_EQ(
      error_of(kInclude +
               "PASSNET_KERNEL k(const float* x, float* out, int64_t n) {\n  out[0] = y;\n  int64_t m = zz;\n}\n"),
      "Name.cpp:3:12: error: 'y' was not declared in this scope\nnote: Name.cpp:4:15: 'zz' was not declared "
      "in this scope");
  EXPECT_EQ(error_of(kInclude + "PASSNET_KERNEL k(float* out) {\n  out[0] = 1\n}\n"),
            "Name.cpp:3:13: error: expected ';' before '}' token");
}

TEST_F(Build, PlacesErrorsInsideHeadersWhereTheKernelCausedThem) {
  EXPECT_EQ(error_of(kInclude + "struct S { int a; };\nPASSNET_KERNEL k(S* x) {}\n"),
            "Name.cpp:3:16: error: a kernel parameter is a pointer to elements, an integer, a float, a "
            "double or a bool, found 'S*'");
  EXPECT_THAT(error_of(kInclude + "PASSNET_KERNEL k(float* out) {\n  passnet::store(out, passnet::sum_of(4, 5));\n}\n"),
              StartsWith("Name.cpp:3:38: error: "));
}

TEST_F(Build, RefusesIncludes) {
  EXPECT_EQ(error_of(kInclude + "  #  include <vector> // why\nPASSNET_KERNEL k(float*) {}\n"),
            "Name.cpp:2:3: error: '<vector>' cannot be included in a kernel, only <passnet/kernel.h>\n"
            "hint: passnet/kernel.h gives integer and half types, vectors, exp, tanh, gelu and more, and row "
            "reductions");
  EXPECT_THAT(error_of("#inc\\\nlude \"/etc/passwd\"\n"),
              StartsWith("Name.cpp:1:1: error: '\"/etc/passwd\"' cannot be included"));
  EXPECT_THAT(error_of("%:include <cmath>\n"), StartsWith("Name.cpp:1:1: error: '<cmath>' cannot be included"));
  EXPECT_THAT(error_of("/* a\n */ #include MACRO\n"), StartsWith("Name.cpp:2:5: error: 'MACRO' cannot be included"));
  EXPECT_EQ(error_of("#include <cstdint>\n#include <stddef.h>\n" + kEmpty), "built");
}

TEST_F(Build, FindsHeadersInAPathWithBlanks) {
  const auto include = directory_ / "a checkout #1" / "include";
  std::filesystem::create_directories(include);
  std::filesystem::copy(tests::source_dir() / "include/passnet", include / "passnet",
                        std::filesystem::copy_options::recursive);
  BuildOptions elsewhere = options();
  elsewhere.include_dir = include;
  const auto built = build_kernel(request(kEmpty), elsewhere);
  EXPECT_TRUE(built) << to_string(built.error());
}

TEST(DependencyNames, AreReadAsMakeReadsThem) {
  EXPECT_THAT(dependency_names("unit.so: unit.cpp \\\n /a\\ b/c\\#1.h \\\n $$x.h\n"),
              ElementsAre("unit.so:", "unit.cpp", "/a b/c#1.h", "$x.h"));
  EXPECT_THAT(dependency_names(""), ElementsAre());
}

TEST_F(Build, RefusesDirectivesThatReachOutside) {
  EXPECT_EQ(error_of("#embed \"/etc/passwd\"\n"), "Name.cpp:1:1: error: '#embed' is not allowed in a kernel");
  EXPECT_EQ(error_of("#include_next <stdint.h>\n"), "Name.cpp:1:1: error: '#include_next' is not allowed in a kernel");
  EXPECT_EQ(error_of("#line 7 \"x\"\n"), "Name.cpp:1:1: error: '#line' is not allowed in a kernel");
  EXPECT_EQ(error_of("#if __has_include(</etc/passwd>)\n#endif\n"),
            "Name.cpp:1:5: error: '__has_include' is not allowed in a kernel");
  EXPECT_EQ(error_of("#pragma GCC optimize(\"fast-math\")\n"),
            "Name.cpp:1:1: error: '#pragma GCC optimize(\"fast-math\")' is not allowed in a kernel\n"
            "hint: allowed: once, GCC ivdep, GCC unroll, omp simd, unroll");
  EXPECT_EQ(error_of("_Pragma(\"GCC poison x\")\n"), "Name.cpp:1:1: error: '_Pragma' is not allowed in a kernel");
  for (const char* time : {"__DATE__", "__TIME__", "__TIMESTAMP__"}) {
    EXPECT_EQ(
        error_of(fmt::format("#define TEXT {}\n", time)),
        fmt::format("Name.cpp:1:14: error: '{}' is not allowed in a kernel: it is another one in each build", time));
    for (size_t letters = 1; letters < std::strlen(time); ++letters) {
      const std::string first(time, letters), rest(time + letters);
      EXPECT_THAT(error_of("#define JOIN(a, b) a##b\n" + kEmpty + "#define TEXT JOIN(" + first + ", " + rest + ")\n"),
                  testing::HasSubstr(fmt::format("error: '{}' in a text with '##' could become '__", first)));
    }
  }
  EXPECT_EQ(error_of("#pragma once\n#define TWO 2\n#if TWO == 2\n" + kEmpty + "#endif\n"), "built");
}

TEST_F(Build, RefusesAssembly) {
  EXPECT_EQ(error_of(kInclude + "PASSNET_KERNEL k(float*) { __asm__(\"syscall\"); }\n"),
            "Name.cpp:2:28: error: '__asm__' is not allowed in a kernel\nhint: passnet::vec compiles to the "
            "vector instructions of the machine");
  EXPECT_EQ(error_of(kInclude + "#define JOIN(a, b) a##b\nPASSNET_KERNEL k(float*) { JOIN(as, m)(\"syscall\"); }\n"),
            "Name.cpp:3:28: error: 'asm' is not allowed in a kernel");
  EXPECT_EQ(
      error_of(kInclude +
               "// asm\n/* asm */\nconst char* const word = R\"x(\" asm )\" )x\";\nPASSNET_KERNEL k(float*) {}\n"),
      "built");
}

TEST_F(Build, RefusesStateBetweenCalls) {
  const std::string hint = "\nhint: make it const or constexpr, a local variable, or an argument";
  EXPECT_EQ(error_of(kInclude + "static float cache[1024];\nPASSNET_KERNEL k(float* out) { cache[int(out[0])] = 1; "
                                "out[0] = cache[5]; }\n"),
            "Name.cpp:3:16: error: kernel 'k' keeps state between calls: writable data 'cache' (.bss, 4096 bytes); "
            "kernels may only use their arguments and the stack" +
                hint);
  EXPECT_EQ(error_of(kInclude + "PASSNET_KERNEL k(int64_t* out) { static int64_t calls = 7; out[0] = ++calls; }\n"),
            "Name.cpp:2:16: error: kernel 'k' keeps state between calls: writable data 'k(long*)::calls' (.data, 8 "
            "bytes); "
            "kernels may only use their arguments and the stack" +
                hint);
  EXPECT_EQ(error_of(kInclude + "thread_local int seen = 0;\nPASSNET_KERNEL k(int32_t* out) { out[0] = ++seen; }\n"),
            "Name.cpp:3:16: error: kernel 'k' keeps state between calls: thread-local data 'seen' (.tbss, 4 "
            "bytes); "
            "kernels may only use their arguments and the stack" +
                hint);
}

TEST_F(Build, AllowsConstantTables) {
  EXPECT_EQ(error_of(kInclude +
                     "static const float table[] = {1, 2, 3};\nstatic const float* const rows[] = {table, table + 1};\n"
                     "PASSNET_KERNEL k(float* out, int64_t n) { out[0] = rows[n][n]; }\n"),
            "built");
}

TEST_F(Build, RefusesCallsOutsideTheList) {
  const std::string hint =
      "\nhint: kernels may call what passnet/kernel.h gives and pure functions of libm; memory comes from "
      "the "
      "host plan (torch.empty)";
  EXPECT_EQ(error_of(kInclude + "extern \"C\" void* malloc(size_t);\nPASSNET_KERNEL k(float* out) { out[0] = "
                                "*(float*)malloc(out[1]); }\n"),
            "Name.cpp:3:16: error: kernel 'k' calls 'malloc', which kernels do not have" + hint);
  EXPECT_EQ(error_of(kInclude + "float helper(float);\nPASSNET_KERNEL k(float* out) { out[0] = helper(out[0]); }\n"),
            "Name.cpp:3:16: error: kernel 'k' calls 'helper(float)', which kernels do not have" + hint);
  EXPECT_EQ(error_of(kInclude + "extern \"C\" float powf(float, float);\nPASSNET_KERNEL k(float* out) { "
                                "out[0] = powf(out[0], out[1]); }\n"),
            "built");
}

TEST_F(Build, RefusesCodeThatRunsAtStart) {
  EXPECT_EQ(error_of(kInclude + "__attribute__((constructor)) static void start() { __builtin_trap(); "
                                "}\nPASSNET_KERNEL k(float* out) {}\n"),
            "Name.cpp:3:16: error: kernel 'k' runs code when it is loaded: a constructor (.init_array); "
            "kernels may only use their arguments and the stack\n"
            "hint: a global variable that needs code to initialise must become constexpr or a local variable");
  EXPECT_EQ(error_of(kInclude + "__attribute__((destructor)) static void stop() { __builtin_trap(); "
                                "}\nPASSNET_KERNEL k(float* out) {}\n"),
            "Name.cpp:3:16: error: kernel 'k' runs code when it is loaded: a destructor (.fini_array); "
            "kernels may only use their arguments and the stack\n"
            "hint: a global variable that needs code to initialise must become constexpr or a local variable");
}

TEST_F(Build, RefusesResolvers) {
  EXPECT_EQ(error_of(kInclude + "static void a() {}\nextern \"C\" { static void (*pick())() { return &a; } }\n"
                                "__attribute__((ifunc(\"pick\"))) static void chosen();\nPASSNET_KERNEL k(float* "
                                "out) { chosen(); }\n"),
            "Name.cpp:5:16: error: kernel 'k' runs code when it is loaded: an ifunc or target_clones resolver; "
            "kernels may only use their arguments and the stack\n"
            "hint: remove the attribute; kernels are compiled for this machine already");
}

TEST_F(Build, RefusesOtherExports) {
  EXPECT_EQ(error_of(kInclude + "extern \"C\" __attribute__((visibility(\"default\"))) void "
                                "sqrt_of_all(float*) {}\nPASSNET_KERNEL k(float*) {}\n"),
            "Name.cpp:3:16: error: kernel 'k' exports 'sqrt_of_all'; only passnet_run_k and "
            "passnet_parameters_k may be exported\n"
            "hint: make it static, or remove its visibility attribute");
}

TEST_F(Build, RefusesConstantsThatAreNoConstants) {
  EXPECT_EQ(error_of(kEmpty, "k", {{"a b", int64_t{1}}}),
            "Name.cpp: error: 'a b' cannot be the name of a constant of kernel 'k'");
  EXPECT_EQ(error_of(kEmpty, "k", {{"T", ir::DType::Complex64}}),
            "Name.cpp: error: constant 'T' of kernel 'k' is torch.complex64, which kernels do not have");
}

TEST_F(Build, SaysThatTheSourceIsMissing) {
  const auto built = build_kernel({directory_ / "Absent.cpp", "k", {}}, options());
  EXPECT_EQ(to_string(built.error()),
            "error: cannot open '" + (directory_ / "Absent.cpp").string() + "': No such file or directory");
}

TEST_F(Build, SaysThatTheCompilerIsMissing) {
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", directory_.c_str(), 1);
  const std::string error = error_of(kEmpty);
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(error, "error: no g++ on PATH to compile kernels with\nhint: apt-get install g++");
}

/// The kernels of a sample's Name.cpp with the constants that its plan gives them: dtypes for what is one, else a size.
class ShippedKernels : public KernelFixture, public testing::WithParamInterface<ir::DType> {
 protected:
  static std::vector<NamedConstant> constants_of(const std::string& plan) {
    static const std::regex keyword("[(,]\\s*([A-Z][A-Z_]*)=([a-z_.]+)");
    std::map<std::string, Constant> found;
    for (std::sregex_iterator match(plan.begin(), plan.end(), keyword), end; match != end; ++match) {
      const bool dtype = (*match)[2].str().find("dtype") != std::string::npos;
      found.emplace((*match)[1], dtype ? Constant(GetParam()) : Constant(int64_t{64}));
    }
    std::vector<NamedConstant> constants;
    for (const auto& [name, value] : found) constants.push_back({name, value});
    return constants;
  }
};

TEST_P(ShippedKernels, AreAccepted) {
  size_t kernels = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tests::source_dir() / "samples")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = read_file(entry.path(), FileKind::Lines).value();
    const auto constants =
        constants_of(read_file(std::filesystem::path(entry.path()).replace_extension(".py"), FileKind::Lines).value());
    const auto source = parse_kernel_source("Name.cpp", text);
    ASSERT_TRUE(source) << to_string(source.error());
    for (const KernelDefinition& kernel : source->kernels) {
      EXPECT_EQ(error_of(text, kernel.name, constants), "built") << entry.path();
      ++kernels;
    }
  }
  EXPECT_GE(kernels, 12u);
}
INSTANTIATE_TEST_SUITE_P(Build, ShippedKernels,
                         testing::Values(ir::DType::Float32, ir::DType::BFloat16, ir::DType::Float16));

class Bomb : public KernelFixture {
 protected:
  // Whatever goes on without end is given 3 s; what ends by itself, as long as a slow machine takes.
  std::string explode(const std::string& text, int timeout_s = 120) {
    BuildOptions limited = options();
    limited.timeout_s = timeout_s;
    const auto built = build_kernel(request(kInclude + text + "PASSNET_KERNEL k(float*) {}\n"), limited);
    return built ? "built" : built.error().message;
  }
};

TEST_F(Bomb, OfTemplatesEnds) {
  EXPECT_EQ(explode("template <int n> struct S { using next = typename S<n + 1>::next; };\nS<0>::next x;\n"),
            "template instantiation depth exceeds maximum of 900 (use '-ftemplate-depth=' to increase the "
            "maximum)");
  EXPECT_EQ(explode("template <class A, class B> struct P {};\ntemplate <int n, class T> struct S { static "
                    "constexpr int v = "
                    "S<n - 1, P<T, int>>::v + S<n - 1, P<int, T>>::v; };\ntemplate <class T> struct S<0, T> "
                    "{ static constexpr int v = 1; };\n"
                    "static_assert(S<40, int>::v > 0);\n",
                    3),
            "compiling kernel 'k' takes more than 3 s of time");
}

TEST_F(Bomb, OfWordsIsNoShortageOfTheMachine) {
  for (const std::string words : {"out of memory", "No space left on device", "Killed signal", "CPU time limit"})
    EXPECT_EQ(explode("static_assert(false, \"" + words + "\");\n"), words);
}

TEST_F(Bomb, OfMacrosEnds) {
  std::string text = "#define A0 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1\n";
  for (int i = 1; i < 12; ++i) {
    text += "#define A" + std::to_string(i);
    for (int k = 0; k < 10; ++k) text += " A" + std::to_string(i - 1) + " +";
    text += " 1\n";
  }
  EXPECT_THAT(explode(text + "static_assert(A11 > 0);\n", 3), StartsWith("compiling kernel 'k' takes more than "));
}

TEST_F(Bomb, OfDataEnds) {
  EXPECT_THAT(explode("struct Big { char byte[1 << 30]; };\nextern const Big big;\nconst Big big = {1};\n", 3),
              StartsWith("compiling kernel 'k' takes more than "));
}

TEST(CheckObject, RefusesWhatIsNoObject) {
  EXPECT_EQ(to_string(check_object("", "k").error()),
            "error: not a shared object of this machine: shorter than an ELF header");
  EXPECT_EQ(to_string(check_object(std::string(4096, 'x'), "k").error()),
            "error: not a shared object of this machine: no ELF header");
}

TEST_F(Build, CheckObjectSurvivesAnyDamage) {
  const std::string bytes = read_file(build(kEmpty)->object, FileKind::Lines).value();
  ASSERT_TRUE(check_object(bytes, "k"));
  for (size_t size = 0; size < bytes.size(); size += 97)
    EXPECT_FALSE(check_object(std::string_view(bytes).substr(0, size), "k")) << size;
  int refused = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const char value : {'\0', '\xff', '\x40'}) {
      std::string damaged = bytes;
      damaged[at] = value;
      refused += check_object(damaged, "k") ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace passnet::pass
