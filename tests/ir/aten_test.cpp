// Which operators of ATen graphs may call, and what is said of the others.
#include "ir/ops/aten.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "base/text/strings.h"
#include "fx/syntax/parser.h"
#include "ir/ops/aten_rows.h"
#include "ir/ops/table.h"

namespace passnet::ir {
namespace {

std::string said_of(NodeKind kind, std::string_view target) {
  const Result<void> checked = check_operator(kind, target);
  return checked ? "may be called" : to_string(checked.error());
}
std::string said_of_function(std::string_view target) { return said_of(NodeKind::CallFunction, target); }

TEST(AtenName, IsWhatASpellingMeans) {
  EXPECT_EQ(aten_name(NodeKind::CallFunction, "torch.ops.aten.add.Tensor"), "add");
  EXPECT_EQ(aten_name(NodeKind::CallFunction, "torch.ops.aten.add"), "add");
  EXPECT_EQ(aten_name(NodeKind::CallFunction, "torch.linalg.norm"), "linalg_norm");
  EXPECT_EQ(aten_name(NodeKind::CallFunction, "torch._C._linalg.linalg_norm"), "linalg_norm");
  EXPECT_EQ(aten_name(NodeKind::CallFunction, "torch.nn.functional.relu"), "relu");
  EXPECT_EQ(aten_name(NodeKind::CallMethod, "view"), "view");
  EXPECT_EQ(aten_name(NodeKind::CallFunction, "math.sqrt"), "");
  EXPECT_EQ(aten_name(NodeKind::Operator, "+"), "");
}

TEST(AtenRows, NameEachOperatorOnce) {
  std::set<std::string_view> seen;
  for (const AtenRow& row : kAtenRows) {
    for (const std::string_view name : split(row.names, ' ')) EXPECT_TRUE(seen.insert(name).second) << name;
  }
  EXPECT_GT(seen.size(), 1500u);
  EXPECT_EQ(aten_row("no_such_operator"), nullptr);
  EXPECT_STREQ(aten_row("relu")->reason_class, "");
}

TEST(CheckOperator, LetsTheOperatorTableBeCalled) {
  for (const std::string_view target : op_table().targets()) {
    const bool method = target.starts_with("Tensor.");
    EXPECT_EQ(said_of(method ? NodeKind::CallMethod : NodeKind::CallFunction, method ? target.substr(7) : target),
              "may be called")
        << target;
  }
}

TEST(CheckOperator, RefusesByNameAndReason) {
  EXPECT_EQ(said_of_function("torch.ops.aten.from_file"),
            "error: operator 'torch.ops.aten.from_file' is not run: it opens a file by name (files)\n"
            "hint: docs/operators.md says what a graph may call");
  EXPECT_EQ(said_of(NodeKind::CallMethod, "set_"),
            "error: method 'set_' is not run: it handles the memory behind tensors, or changes its size (storage)\n"
            "hint: docs/operators.md says what a graph may call");
}

TEST(CheckOperator, KnowsEachSpellingOfWhatItRefuses) {
  for (const char* target : {"torch.from_file", "torch._VF.from_file", "torch.ops.aten.from_file.default",
                             "torch._C._VariableFunctions.from_file", "torch.nn.functional.from_file"})
    EXPECT_THAT(said_of_function(target), testing::HasSubstr("(files)")) << target;
  for (const char* target :
       {"torch.segment_reduce", "torch._segment_reduce", "torch._VF._segment_reduce", "torch.ops.aten.segment_reduce"})
    EXPECT_THAT(said_of_function(target), testing::HasSubstr("(unchecked)")) << target;
}

TEST(CheckOperator, HasAReasonForEachKind) {
  const std::pair<const char*, const char*> kinds[] = {
      {"_reshape_alias", "strides"},   {"resize_", "storage"},
      {"segment_reduce", "unchecked"}, {"_print", "settings"},
      {"record_stream", "devices"},    {"fbgemm_pack_gemm_matrix_fp16", "packed"},
      {"gelu_backward", "gradients"},  {"percentFormat", "script"},
      {"_foreach_add", "internal"},    {"save", "files"},
      {"linalg_lu_solve", "unchecked"}};
  for (const auto& [name, kind] : kinds) EXPECT_STREQ(aten_row(name)->reason_class, kind) << name;
}

TEST(CheckOperator, IsAskedWhenAGraphIsRead) {
  const auto text = std::make_shared<const std::string>(
      "import torch\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, x):\n        a = x.relu()\n"
      "        b = torch.ops.aten._reshape_alias(a, (1000,), (1,))\n        return (b,)\n");
  const Result<Graph> refused = fx::parse_model("model.py", text);
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      to_string(refused.error()),
      "model.py:6:13: error: operator 'torch.ops.aten._reshape_alias' is not run: its sizes and strides are compared "
      "with no memory (strides)\nhint: docs/operators.md says what a graph may call");
  EXPECT_TRUE(fx::parse_model("model.py", text, fx::Operators::All));
}

}  // namespace
}  // namespace passnet::ir
