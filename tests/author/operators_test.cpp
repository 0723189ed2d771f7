// The table of operators that the author defines.
#include "author/define/operators.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "ir/ops/table.h"

namespace passnet::author {
namespace {

TEST(Operators, AreNamedAsInTheTableOfAllOperators) {
  std::set<std::string> known;
  for (const ir::OpSignature* one : ir::op_table().operators()) known.emplace(one->name);
  for (const std::string_view name : defined_operators())
    EXPECT_TRUE(known.contains(std::string(name)) || known.contains(std::string(name) + "_")) << name;
  EXPECT_GT(defined_operators().size(), 150u);
}

}  // namespace
}  // namespace passnet::author
