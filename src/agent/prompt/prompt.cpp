#include "agent/prompt/prompt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/prompt/texts.h"
#include "base/hash.h"
#include "base/text/visible.h"
#include "fx/print.h"
#include "ir/dtype.h"

namespace passnet::agent {

namespace {

// The worked example must not be the task's own answer.
const texts::Example& example_for(const std::string& sample) {
  const texts::Example& first = texts::kExamples[0];
  return sample == first.sample ? texts::kExamples[1] : first;
}

/// Whether the example shows what the task asks for.
Result<bool> gives_away(const ExampleText& example, const graphdir::Sample& sample) {
  if (example.sample == sample.name) return true;
  for (const std::filesystem::path& path : sample.graph_paths) {
    PASSNET_TRY(const graphdir::GraphDir graph, graphdir::load_graph_dir(path));
    if (example.text.find(fx::print_model(graph.graph)) != std::string::npos) return true;
  }
  return false;
}

/// The first of the given ones that does not give the task away, else a shipped one.
Result<std::string> example_text(const graphdir::Sample& sample, const std::vector<ExampleText>& examples) {
  for (const ExampleText& one : examples) {
    PASSNET_TRY(const bool is_own, gives_away(one, sample));
    if (!is_own) return one.text + "\n";
  }
  const texts::Example& shipped = example_for(sample.name);
  return fill_in(texts::kExample, {{"example_name", shipped.sample},
                                   {"example_pass", shipped.pass},
                                   {"example_plan", shipped.plan},
                                   {"example_cpu", shipped.cpu},
                                   {"example_cuda", shipped.cuda}});
}

}  // namespace

// Tools show the graphs after the first.
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

std::string prompt_hash(const std::vector<ExampleText>& examples) {
  std::string all = std::string(texts::kPasses) + texts::kExample + texts::kSystem + texts::kTask;
  for (const texts::Example& one : texts::kExamples) all += std::string(one.plan) + one.cpu + one.cuda;
  for (const ExampleText& one : examples) all += one.text;
  return sha256_hex(all);
}

namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

// What stands for the {{names}} of the texts.
Result<Values> values_for(const graphdir::Sample& sample, const PromptFacts& facts) {
  PASSNET_TRY(const std::string graphs, describe_graphs(sample));
  PASSNET_TRY(const std::string example, example_text(sample, facts.examples));
  return Values{{"device", facts.on_gpu ? "an NVIDIA GPU" : "a CPU"},
                {"max_steps", std::to_string(facts.max_steps)},
                {"sample", visible_line(sample.name)},
                {"graph_count", std::to_string(sample.graph_names.size())},
                {"graphs", graphs},
                {"example", example}};
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

Result<Conversation> make_answer_messages(const graphdir::Sample& sample, bool on_gpu) {
  PASSNET_TRY(const Values values, values_for(sample, {on_gpu}));
  return Conversation{{Role::System, fill_in_all(texts::kAnswer, values)},
                      {Role::User, fill_in(texts::kAnswerTask, values)}};
}

Result<std::string> make_workspace_prompt(const graphdir::Sample& sample, bool on_gpu, const std::string& directory) {
  PASSNET_TRY(Values values, values_for(sample, {on_gpu}));
  values.emplace_back("directory", directory);
  values.emplace_back("device_option", on_gpu ? "cuda" : "cpu");
  return fill_in_all(texts::kWorkspace, std::move(values));
}

Result<std::string> make_answer_prompt(const graphdir::Sample& sample, bool on_gpu) {
  PASSNET_TRY(const Conversation messages, make_answer_messages(sample, on_gpu));
  return messages[0].text + messages[1].text;
}

}  // namespace passnet::agent
