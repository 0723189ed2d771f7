#include "selftest/graphs_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text/strings.h"
#include "selftest/block_text.h"

namespace passnet::selftest {

namespace {

constexpr const char* kModel = R"(import torch


class GraphModule(torch.nn.Module):
    def forward(self{}):
{})";

constexpr const char* kGraphNet = R"({{
    "framework": "torch",
    "num_devices_required": 1,
    "num_nodes_required": 1,
    "dynamic": false,
    "model_name": "{}"
}}
)";

/// A block of graphs.txt.
struct Block {
  std::string name, model_name;
  std::vector<std::string> inputs, metas;  // arguments of forward, and their records
  std::optional<std::string> forward;
  SourceLoc at;
};

/// "x float32 [32, 64] mean=0.0 std=1.0" as a record of weight_meta.py.
Result<void> read_input(const TextField& field, Block& block) {
  const std::string_view value = field.value;
  const size_t name_end = std::min(value.find(' '), value.size());
  const size_t open = value.find('['), close = value.find(']');
  const std::string_view name = value.substr(0, name_end);
  const bool has_shape =
      open != std::string_view::npos && close != std::string_view::npos && name_end < open && open < close;
  const std::string_view dtype = has_shape ? trim(value.substr(name_end, open - name_end)) : "";
  if (!is_identifier(name) || !is_identifier(dtype))
    return bad_input(
        fmt::format("field 'input': expected NAME DTYPE [SIZES] and words KEY=VALUE, found {}", quoted(value)),
        field.value_at);
  std::string record = fmt::format(
      "class Program_weight_tensor_meta_{0}:\n    name = \"{0}\"\n    shape = {1}\n    dtype = \"torch.{2}\"\n"
      "    device = \"cpu\"\n",
      name, value.substr(open, close + 1 - open), dtype);
  for (const std::string_view word : split(value.substr(close + 1), ' ')) {
    if (word.empty()) continue;
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos)
      return bad_input(fmt::format("field 'input': expected KEY=VALUE, found {}", quoted(word)), field.value_at);
    record += fmt::format("    {} = {}\n", word.substr(0, equals), word.substr(equals + 1));
  }
  block.inputs.emplace_back(name);
  block.metas.push_back(std::move(record));
  return {};
}

Result<void> read_field(const TextField& field, Block& block) {
  if (field.key == "input") return read_input(field, block);
  if (field.key == "model") {
    block.model_name = field.value;
  } else if (field.key == "forward") {
    if (!field.text)
      return bad_input("field 'forward' has no text, expected lines below it that begin with '|'", field.at);
    block.forward = field.text;
  } else {
    return bad_input(
        fmt::format("unknown field {}, expected 'graph', 'input', 'forward' or 'model'", quoted(field.key)), field.at);
  }
  return {};
}

Result<GraphText> render_graph(const Block& block) {
  if (!block.forward) return bad_input(fmt::format("graph {} has no field 'forward'", quoted(block.name)), block.at);
  std::string arguments, body;
  for (const std::string& input : block.inputs) arguments += ", " + input;
  for (const std::string_view line : split(trim(*block.forward), '\n'))
    body += line.empty() ? "\n" : fmt::format("        {}\n", line);
  return GraphText{block.name,
                   {{"model.py", fmt::format(kModel, arguments, body)},
                    {"weight_meta.py", join(block.metas, "\n\n")},
                    {"input_meta.py", ""},
                    {"graph_net.json", fmt::format(kGraphNet, block.model_name)}}};
}

}  // namespace

Result<std::vector<GraphText>> parse_graphs(std::string_view text, const std::string& file) {
  PASSNET_TRY(const std::vector<TextField> fields, parse_block_text(text, file));
  std::vector<Block> blocks;
  for (const TextField& field : fields) {
    if (field.key == "graph") {
      if (!is_identifier(field.value))
        return bad_input(fmt::format("field 'graph': expected a name, found {}", quoted(field.value)), field.value_at);
      if (const auto same = std::ranges::find(blocks, field.value, &Block::name); same != blocks.end())
        return bad_input(
            fmt::format("graph {} stands here again, first on line {}", quoted(field.value), same->at.line), field.at);
      blocks.push_back({field.value, field.value, {}, {}, {}, field.at});
    } else if (blocks.empty()) {
      return bad_input(fmt::format("expected 'graph NAME', found the field {}", quoted(field.key)), field.at);
    } else {
      PASSNET_TRY_VOID(read_field(field, blocks.back()));
    }
  }
  std::vector<GraphText> graphs;
  for (const Block& block : blocks) {
    PASSNET_TRY(graphs.emplace_back(), render_graph(block));
  }
  return graphs;
}

}  // namespace passnet::selftest
