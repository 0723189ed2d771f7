#include "selftest/mutate.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace passnet::selftest {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> changed(const std::string& source) {
  std::vector<std::string> lines;
  for (const Mutant& mutant : mutants_of(source)) lines.push_back(mutant.after);
  return lines;
}

TEST(Mutate, ChangesOneThingAtATime) {
  const std::vector<std::string> lines = changed("for (int64_t i = first; i < last; ++i) out[i] = x[i] + y[i];");
  EXPECT_THAT(lines, Contains("for (int64_t i = first; i <= last; ++i) out[i] = x[i] + y[i];"));
  EXPECT_THAT(lines, Contains("for (int64_t i = first; i < last; ++i) out[i] = x[i] - y[i];"));
  EXPECT_THAT(lines, Contains("for (int64_t i = first; i < last; ++i) out[i] = x[i + 1] + y[i];"));
  EXPECT_THAT(lines, Contains("for (int64_t i = first; i < last; ++i) out[i] = x[i] + y[0];"));
}

TEST(Mutate, KeepsTheRestOfTheSource) {
  const std::string source = "// a\nout[i] = relu(x[i]);\n// b\n";
  const std::vector<Mutant> mutants = mutants_of(source);
  const auto dropped = std::ranges::find(mutants, "dropped epilogue", &Mutant::rule);
  ASSERT_NE(dropped, mutants.end());
  EXPECT_EQ(dropped->text, "// a\nout[i] = (x[i]);\n// b\n");
  EXPECT_EQ(dropped->line, 2U);
  EXPECT_EQ(dropped->before, "out[i] = relu(x[i]);");
}

TEST(Mutate, ClosesTheGuardThatItOpens) {
  EXPECT_THAT(changed("if (f(i) < n) out[i] = 0;"), Contains("if (true || (f(i) < n)) out[i] = 0;"));
  EXPECT_THAT(changed("if (f(i) < n) out[i] = 0;"), Contains("if (false && (f(i) < n)) out[i] = 0;"));
}

TEST(Mutate, LeavesCommentsAndDirectivesAlone) {
  EXPECT_THAT(mutants_of("// i < n\n#define N 3\n\n"), IsEmpty());
  EXPECT_THAT(changed("a < b;  // c < d"), Not(Contains("a < b;  // c <= d")));
}

TEST(Mutate, TakesNoBracketsOfATemplateForAComparison) {
  for (const std::string& line : changed("template <class T> f(const T* x, vec<T> y);")) ADD_FAILURE() << line;
}

}  // namespace
}  // namespace passnet::selftest
