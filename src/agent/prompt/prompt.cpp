#include "agent/prompt/prompt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/prompt/texts.h"
#include "base/hash.h"
#include "base/visible.h"
#include "fx/print.h"
#include "ir/dtype.h"

namespace passnet::agent {

namespace {

// The worked example must not be the task's own answer.
const texts::Example& example_for(const std::string& sample) {
  const texts::Example& first = texts::kExamples[0];
  return sample == first.sample ? texts::kExamples[1] : first;
}

// Names of all graphs, and the first one whole: tools show the others.
Result<std::string> describe_graphs(const graphdir::Sample& sample) {
  constexpr size_t kNamed = 40;
  std::string text = "Graphs: ";
  for (size_t i = 0; i < std::min(sample.graph_names.size(), kNamed); ++i)
    text += (i > 0 ? ", " : "") + visible_line(sample.graph_names[i]);
  if (sample.graph_names.size() > kNamed) text += fmt::format(" and {} more", sample.graph_names.size() - kNamed);
  PASSNET_TRY(const graphdir::GraphDir graph, graphdir::load_graph_dir(sample.graph_paths.front()));
  text += fmt::format("\n\nThe first of them, {}:\n```python\n{}```\nwith ", visible_line(sample.graph_names.front()),
                      fx::print_model(graph.graph));
  std::vector<std::string> types;
  for (const auto* list : {&graph.weights, &graph.inputs}) {
    for (const graphdir::TensorMeta& one : *list)
      types.push_back(fmt::format("{}: {} [{}]", one.name, ir::name(one.dtype), fmt::join(one.shape, ", ")));
  }
  return text + fmt::format("{}", fmt::join(types, "; "));
}

}  // namespace

std::string fill_in(std::string_view text, const std::vector<std::pair<std::string, std::string>>& values) {
  std::string filled;
  while (!text.empty()) {
    const size_t begin = text.find("{{"), end = text.find("}}", begin);
    filled += text.substr(0, begin);
    if (begin == std::string_view::npos || end == std::string_view::npos) break;
    const std::string_view name = text.substr(begin + 2, end - begin - 2);
    for (const auto& [key, value] : values) {
      if (key == name) filled += value;
    }
    text.remove_prefix(end + 2);
  }
  return filled;
}

std::string prompt_hash() {
  std::string all = std::string(texts::kPasses) + texts::kSystem + texts::kTask;
  for (const texts::Example& one : texts::kExamples) all += std::string(one.plan) + one.cpu + one.cuda;
  return sha256_hex(all);
}

namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

// What stands for the {{names}} of the texts.
Result<Values> values_for(const graphdir::Sample& sample, const PromptFacts& facts) {
  PASSNET_TRY(const std::string graphs, describe_graphs(sample));
  const texts::Example& example = example_for(sample.name);
  return Values{{"device", facts.on_gpu ? "an NVIDIA GPU" : "a CPU"},
                {"max_steps", std::to_string(facts.max_steps)},
                {"sample", visible_line(sample.name)},
                {"graph_count", std::to_string(sample.graph_names.size())},
                {"graphs", graphs},
                {"example_name", example.sample},
                {"example_pass", example.pass},
                {"example_plan", example.plan},
                {"example_cpu", example.cpu},
                {"example_cuda", example.cuda}};
}

// What a pass is, and then everything else.
std::string fill_in_all(std::string_view text, Values values) {
  values.emplace_back("passes", fill_in(texts::kPasses, values));
  return fill_in(text, values);
}

}  // namespace

Result<Conversation> make_prompt(const graphdir::Sample& sample, const PromptFacts& facts) {
  PASSNET_TRY(const Values values, values_for(sample, facts));
  return Conversation{{Role::System, fill_in_all(texts::kSystem, values)}, {Role::User, fill_in(texts::kTask, values)}};
}

Result<std::string> make_answer_prompt(const graphdir::Sample& sample, bool on_gpu) {
  PASSNET_TRY(const Values values, values_for(sample, {on_gpu}));
  return fill_in_all(texts::kAnswer, values);
}

}  // namespace passnet::agent
