// Any bytes as a graph that calls operators: of the operator table, of ATen, and those that no graph may call, with
// arguments of every kind. Reading it, lowering it and inferring its types without data end soon, with types or with an
// error; what no graph may call is refused at its line.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/strings.h"
#include "fx/syntax/parser.h"
#include "graphdir/inputs/meta.h"
#include "graphdir/inputs/meta_json.h"
#include "ir/ops/aten.h"
#include "ir/ops/aten_rows.h"
#include "ir/ops/table.h"
#include "protocol/messages.h"
#include "runtime/answer/answers.h"
#include "runtime/session/process.h"

namespace {

using namespace passnet;

/// What a graph may name, as it is written.
std::vector<std::string> all_targets() {
  std::vector<std::string> targets;
  for (const std::string_view target : ir::op_table().targets()) targets.emplace_back(target);
  for (const ir::AtenRow& row : ir::kAtenRows) {
    for (const std::string_view name : split(row.names, ' ')) {
      targets.push_back(fmt::format("torch.ops.aten.{}", name));
      targets.push_back(fmt::format("Tensor.{}", name));
    }
  }
  return targets;
}

constexpr std::array<std::string_view, 28> kLiterals = {"None",
                                                        "True",
                                                        "False",
                                                        "0",
                                                        "1",
                                                        "-1",
                                                        "2",
                                                        "3",
                                                        "1000000",
                                                        "9223372036854775807",
                                                        "-9223372036854775808",
                                                        "0.5",
                                                        "-1e300",
                                                        "float('inf')",
                                                        "float('nan')",
                                                        "'mean'",
                                                        "'/dev/null'",
                                                        "''",
                                                        "torch.float16",
                                                        "torch.int64",
                                                        "torch.strided",
                                                        "torch.channels_last",
                                                        "(2, 3)",
                                                        "[]",
                                                        "[-1]",
                                                        "(4294967296, 4294967296)",
                                                        "slice(None, 2, None)",
                                                        "Ellipsis"};
constexpr std::array<std::string_view, 12> kKeywords = {"dim",   "dtype",  "keepdim", "size",    "stride", "value",
                                                        "other", "shared", "inplace", "indices", "unsafe", "out"};
constexpr int kMostCalls = 12, kMostArguments = 6, kInputs = 3;

/// Takes choices from the bytes; zeros once they are used up.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool empty() const { return size_ == 0; }
  size_t below(size_t bound) {
    size_t value = 0;
    for (size_t range = 1; range < bound && size_ > 0; range *= 256, --size_) value = value * 256 + *data_++;
    return value % bound;
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

std::string argument(Choices& choices, int values) {
  switch (choices.below(6)) {
    case 0:
    case 1:
    case 2: return fmt::format("v{}", choices.below(static_cast<size_t>(values)));
    case 3: {
      const std::string first = argument(choices, values);
      return fmt::format("[{}, v{}]", first, choices.below(static_cast<size_t>(values)));
    }
    default: return std::string(kLiterals[choices.below(kLiterals.size())]);
  }
}

struct Written {
  std::string text;
  bool may_be_read = true;
};

Written write_graph(Choices& choices) {
  static const std::vector<std::string> kTargets = all_targets();
  Written written{
      "import torch\nfrom torch import device\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, v0, v1, "
      "v2):\n",
      true};
  int values = kInputs;
  for (; values < kInputs + kMostCalls && !choices.empty(); ++values) {
    std::string_view target = kTargets[choices.below(kTargets.size())];
    const bool method = target.starts_with("Tensor.");
    if (method) target.remove_prefix(std::string_view("Tensor.").size());
    const auto kind = method ? ir::NodeKind::CallMethod : ir::NodeKind::CallFunction;
    written.may_be_read = written.may_be_read && ir::check_operator(kind, target).has_value();
    std::string call = method ? fmt::format("v{}.{}(", choices.below(static_cast<size_t>(values)), target)
                              : fmt::format("{}(", target);
    std::string_view comma;
    for (size_t left = choices.below(kMostArguments); left > 0; --left, comma = ", ")
      call += fmt::format("{}{}", comma, argument(choices, values));
    if (choices.below(3) == 0)
      call += fmt::format("{}{} = {}", comma, kKeywords[choices.below(kKeywords.size())], argument(choices, values));
    written.text += fmt::format("        v{} = {})\n", values, call);
  }
  written.text += fmt::format("        return (v{},)\n", values - 1);
  return written;
}

graphdir::Metas metas() {
  graphdir::Metas metas;
  for (int i = 0; i < kInputs; ++i) {
    graphdir::TensorMeta meta;
    meta.name = fmt::format("v{}", i);
    meta.shape = {2, 3, 4};
    meta.dtype = i == 2 ? ir::DType::Int64 : ir::DType::Float32;
    metas.weights.push_back(std::move(meta));
  }
  return metas;
}

bool start() {
  const Result<void> started = runtime::start_runtime({});
  return started.has_value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool kStarted = start();
  if (!kStarted) std::abort();
  Choices choices(data, size);
  Written written = write_graph(choices);
  const auto text = std::make_shared<const std::string>(written.text);
  const auto read = fx::parse_model("model.py", text);
  if (!read && (!read.error().at || read.error().message.empty())) std::abort();
  if (read && !written.may_be_read) std::abort();
  if (!read) return 0;
  static runtime::Answers answers(runtime::Role::Reference, fx::Operators::Listed);
  runtime::Answers::Fds fds;
  const auto loaded = answers.answer(protocol::Load{.id = "g", .file = "model.py", .model = written.text}, fds);
  if (!loaded) {
    if (loaded.error().message.empty()) std::abort();
    return 0;
  }
  (void)answers.answer(protocol::Infer{"g", graphdir::to_json(metas().weights), IndirectJson::array()}, fds);
  return 0;
}
