// Graphs that are compiled ahead of time: what decides a package, what stands for the graph then, and a compiler that
// fails.
#include "run/worker/package.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "ir/verify.h"
#include "tests/fx/graph_text.h"
#include "tests/paths.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const std::vector<wire::Entry> kInputs = {{"b", ir::DType::Float32, {3}}, {"a", ir::DType::Float16, {2, 3}}};

ir::Graph graph(const std::string& returned) { return fx::parse("a, b", "c = a + b\nreturn " + returned); }
ir::Value number(int64_t value) { return {value, {}}; }

std::string key(const std::string& returned, std::vector<wire::Entry> inputs, const std::string& made_by) {
  return package_key({graph(returned), inputs, made_by}).value();
}

TEST(PackageKey, IsOfGraphTypesAndCompiler) {
  const std::string known = key("(c,)", kInputs, "torch 2");
  EXPECT_EQ(key("(c,)", {kInputs[1], kInputs[0]}, "torch 2"), known);
  EXPECT_NE(key("(c, a)", kInputs, "torch 2"), known);
  EXPECT_NE(key("(c,)", kInputs, "torch 3"), known);
  EXPECT_NE(key("(c,)", {kInputs[0], {"a", ir::DType::Float32, {2, 3}}}, "torch 2"), known);
  EXPECT_NE(key("(c,)", {kInputs[0], {"a", ir::DType::Float16, {4, 3}}}, "torch 2"), known);
}

TEST(PackageKey, NeedsATensorForEachArgument) {
  const std::vector<wire::Entry> inputs = {kInputs[0]};
  const auto made = package_key({graph("(c,)"), inputs, ""});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(to_string(made.error()), "error: no tensor for the argument 'a'");
}

std::string packaged_text(const std::string& returned, const PackageOutputs& outputs) {
  const auto packaged = packaged_graph(graph(returned), outputs);
  if (!packaged) return to_string(packaged.error());
  EXPECT_TRUE(ir::verify(*packaged).has_value());
  return fx::dump(packaged);
}

TEST(PackagedGraph, IsOneCallOfThePackage) {
  EXPECT_EQ(packaged_text("(c, a)", {std::nullopt, std::nullopt}),
            "passnet_package = passnet.package(2, a, b)\n"
            "passnet_value_0 = passnet_package[0]\n"
            "passnet_value_1 = passnet_package[1]\n"
            "return (passnet_value_0, passnet_value_1)\n");
}

TEST(PackagedGraph, ReturnsOneTensorAsTheGraphDoes) {
  EXPECT_THAT(packaged_text("c", {std::nullopt}), HasSubstr("return passnet_value_0\n"));
}

TEST(PackagedGraph, HoldsTheNumbersThatAPackageDoesNotReturn) {
  const PackageOutputs outputs = {number(7), std::nullopt, ir::Value{}, ir::Value{2.5, {}}, ir::Value{true, {}}};
  const std::string text = packaged_text("(1, c, 2, 3, 4)", outputs);
  EXPECT_THAT(text, HasSubstr("passnet.package(1, a, b)\n"));
  EXPECT_THAT(text, HasSubstr("return (7, passnet_value_0, None, 2.5, True)\n"));
}

TEST(PackagedGraph, IsRefusedWhereItWouldReturnSomethingElse) {
  EXPECT_EQ(packaged_text("(c, a)", {std::nullopt}), "error: the graph returns 2 values, torch.export found 1");
  EXPECT_EQ(packaged_text("(c, a)", {std::nullopt, ir::Value{ir::Value::List{number(1), number(2)}, {}}}),
            "error: the graph returns (int, int), expected tensors and numbers");
}

class MakingPackages : public testing::Test {
 protected:
  void SetUp() override { ::setenv("PASSNET_HOME", (scratch_.path / "home").c_str(), 1); }
  void TearDown() override {
    if (home_)
      ::setenv("PASSNET_HOME", home_->c_str(), 1);
    else
      ::unsetenv("PASSNET_HOME");
  }

  // What a compiler that behaves like this ends with.
  Error make(const std::string& fake, std::chrono::milliseconds timeout = 5s) {
    Worker compiler({(tests::binary_dir() / "tests/run/workers").string() + "/" + fake, Role::Reference, 1});
    EXPECT_TRUE(compiler.start().has_value());
    const auto made = find_or_make_package(compiler, {graph("(c,)"), kInputs, ""}, timeout);
    EXPECT_FALSE(made.has_value());
    return made ? Error{} : made.error();
  }

 private:
  static std::optional<std::string> home_of_user() {
    const char* home = std::getenv("PASSNET_HOME");
    return home != nullptr ? std::optional<std::string>(home) : std::nullopt;
  }
  const std::optional<std::string> home_ = home_of_user();
  const ScratchDirectory scratch_;
};

TEST_F(MakingPackages, TellsWhyTheCompilerRefuses) {
  const Error refused = make("fake_refuses");
  EXPECT_EQ(refused.failure, "unsupported");
  EXPECT_EQ(refused.message, "no such operator");
}

TEST_F(MakingPackages, TellsThatTheCompilerIsGone) {
  const Error crashed = make("fake_crashes");
  EXPECT_EQ(crashed.failure, "crash");
  EXPECT_THAT(crashed.message, HasSubstr("AOTInductor: "));
  const Error hung = make("fake_hangs", 200ms);
  EXPECT_EQ(hung.failure, "timeout");
  EXPECT_EQ(hung.message, "AOTInductor made no package within 0.2 s; it was killed");
}

}  // namespace
}  // namespace passnet::run
