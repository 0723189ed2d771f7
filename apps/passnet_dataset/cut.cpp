// passnet graph cut: a range of a graph as a graph of its own.
#include "dataset/official/cut.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/op_name.h"
#include "base/text/strings.h"
#include "command.h"
#include "dataset.h"
#include "dataset/cut_graph.h"
#include "dataset/official/whole.h"
#include "external_commands.h"
#include "options.h"

namespace passnet::cli {

namespace {

struct CutFlags {
  std::string graph, range, ops;
  int64_t occurrence = 1;
  std::filesystem::path out;
  bool no_run = false, json = false;
  std::optional<int> variant;  // of PassBench; none: not as PassBench has it
  std::string dtype = "float32";
  double timeout_s = kDefaultTimeoutS;

  std::chrono::milliseconds timeout() const {
    return std::chrono::milliseconds(static_cast<int64_t>(timeout_s * 1000));
  }
};

// "3:7"
std::optional<analysis::Range> parse_body_range(const std::string& text) {
  analysis::Range range;
  const char* const end = text.data() + text.size();
  const auto [colon, start_read] = std::from_chars(text.data(), end, range.start);
  if (start_read != std::errc{} || colon == end || *colon != ':') return std::nullopt;
  const auto [stop, end_read] = std::from_chars(colon + 1, end, range.end);
  if (end_read != std::errc{} || stop != end) return std::nullopt;
  return range;
}

std::string check_range(const std::string& text) {
  return parse_body_range(text) ? "" : fmt::format("expected START:END, as in 3:7, found {}", quoted(text));
}

// The operators of a graph in its order, as --ops takes them; long lists are cut.
std::string operators_of(const ir::Graph& graph) {
  constexpr size_t kMostBytes = 400;
  std::string text;
  for (const std::string& name : analysis::op_names(graph)) {
    if (text.size() + name.size() > kMostBytes) return text + " …";
    text += (text.empty() ? "" : " ") + name;
  }
  return text;
}

Result<analysis::Range> find_range(const ir::Graph& graph, const CutFlags& flags) {
  if (!flags.range.empty()) return *parse_body_range(flags.range);
  std::vector<std::string> ops;
  for (const std::string_view op : split(flags.ops, ' ')) {
    if (!op.empty()) ops.emplace_back(op);
  }
  const std::vector<analysis::Range> found =
      ops.empty() ? std::vector<analysis::Range>() : analysis::ranges_of_ops(graph, ops);
  const auto wanted = static_cast<size_t>(flags.occurrence);
  if (found.size() < wanted)
    return bad_input(fmt::format("operators {}: found {} times, expected at least {}", quoted(flags.ops), found.size(),
                                 wanted))
        .with_hint(fmt::format("its operators, in order: {}; 'passnet graph show --numbers' numbers them",
                               operators_of(graph)));
  return found[wanted - 1];
}

Result<analysis::Range> cut_ours(run::Worker& worker, const CutFlags& flags) {
  PASSNET_TRY(const graphdir::GraphDir whole, graphdir::load_graph_dir(flags.graph));
  PASSNET_TRY(const analysis::Range range, find_range(whole.graph, flags));
  PASSNET_TRY_VOID(dataset::cut_graph(worker, whole, range, flags.out, {!flags.no_run, flags.timeout()}));
  return range;
}

Result<analysis::Range> cut_as_upstream(run::Worker& worker, const CutFlags& flags) {
  PASSNET_TRY(const dataset::official::Whole whole, dataset::official::load_whole(flags.graph));
  PASSNET_TRY(const analysis::Range range, find_range(whole.dir.graph, flags));
  PASSNET_TRY_VOID(
      dataset::official::cut_range(worker, whole, range, flags.out,
                                   {*flags.variant, *ir::parse_dtype(flags.dtype), !flags.no_run, flags.timeout()}));
  return range;
}

Result<void> cut(const CutFlags& flags) {
  catch_interrupts();
  run::Worker worker({{}, run::Role::Reference, 1, &interrupted(), {}});
  PASSNET_TRY_VOID(worker.start());
  PASSNET_TRY(const analysis::Range range, flags.variant ? cut_as_upstream(worker, flags) : cut_ours(worker, flags));
  print_result(
      flags.json
          ? dump(Json{{"graph", flags.graph}, {"range", {range.start, range.end}}, {"out", flags.out.string()}}) + "\n"
          : fmt::format("{}: nodes {}:{} of {}\n", flags.out.string(), range.start, range.end, flags.graph));
  return {};
}

}  // namespace

void add_graph_cut(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<CutFlags>();
  CLI::App* command = add_command(app, kGraphCut);
  command->add_option("GRAPH_DIR", flags->graph, "graph directory or model.py")->required();
  CLI::Option* range =
      command
          ->add_option("--range", flags->range, "START:END, numbers as of 'graph show --numbers'; END is not included")
          ->check(check_range);
  CLI::Option* ops =
      command->add_option("--ops", flags->ops, "operators of the range in order, separated by blanks")->excludes(range);
  command->add_option("--occurrence", flags->occurrence, "take the N-th such range")
      ->capture_default_str()
      ->check(integer_in(1, 1'000'000))
      ->needs(ops);
  add_out_option(*command, flags->out, "the new graph directory")->required();
  command->add_flag("--no-run", flags->no_run,
                    "do not run the whole graph; record types of intermediate values without figures");
  CLI::Option* official =
      command->add_option("--official", flags->variant,
                          "write PassBench's graph of this range, at row 0 to 8 of its shapes, or 9: as "
                          "captured; figures of intermediate values differ");
  official->check(integer_in(0, dataset::official::kCapturedVariant));
  command->add_option("--dtype", flags->dtype, "dtype of PassBench's graph")
      ->check(one_of({"float32", "float16", "bfloat16"}))
      ->capture_default_str()
      ->needs(official);
  add_timeout_option(*command, flags->timeout_s, "time limit of a step of the whole graph, in seconds");
  add_json_flag(*command, flags->json);
  command->footer(
      "Values that flow into the range are measured in a run of the whole graph with inputs made from its records,\n"
      "so that the piece can be run alone. docs/dataset-format.md says how nodes are counted and named.\n\n"
      "Example:  passnet graph cut samples/llama_add_rms_norm/graphs/b1_s1_float32 --ops 'rsqrt mul' --out piece\n"
      "          passnet graph cut GraphNet/samples/mmseg/CGNet --range 413:419 --official 3 --out piece");
  command->callback([flags, &exit_code] {
    if (flags->range.empty() && flags->ops.empty()) throw CLI::RequiredError("--range, or --ops,");
    exit_code = finish(cut(*flags));
  });
}

}  // namespace passnet::cli
