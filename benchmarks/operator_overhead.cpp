// What one operator costs at tiny shapes, PyTorch from Python against passnet-worker, side by side in one
// run: the time of a chain of 48 calls less that of a chain of 16, per call. At such shapes the arithmetic is
// nearly free, so this is the overhead of getting to it.
#include <fmt/format.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "contest.h"
#include "record/stats.h"

namespace passnet::bench_tools {
namespace {

/// A statement that makes `{1}` from `{0}`; both have shape [4, 8], or [8, 4] after a transpose.
struct Operator {
  const char* name;
  const char* statement;
};
constexpr Operator kOperators[] = {
    {"add", "{1} = {0} + l_x"},
    {"mul by a number", "{1} = {0} * 0.5"},
    {"relu", "{1} = torch.nn.functional.relu({0}, inplace = False)"},
    {"gelu", "{1} = torch.nn.functional.gelu({0})"},
    {"softmax", "{1} = torch.nn.functional.softmax({0}, dim = -1)"},
    {"layer_norm", "{1} = torch.nn.functional.layer_norm({0}, (8,), l_w, l_b, 1e-05)"},
    {"linear", "{1} = torch._C._nn.linear({0}, l_m, l_b)"},
    {"sum over a dimension", "{1} = {0}.sum(0, keepdim = True)"},
    {"transpose", "{1} = {0}.transpose(0, 1)"},
    {"reshape", "{1} = {0}.reshape(4, 8)"},
};

std::string meta_class(const std::string& name, const std::string& shape) {
  return fmt::format(
      "class Program_weight_tensor_meta_L_{0}_:\n    name = \"L_{0}_\"\n    shape = {1}\n    dtype = "
      "\"torch.float32\"\n"
      "    device = \"cpu\"\n    mean = 0.0\n    std = 1.0\n    data = None\n\n",
      name, shape);
}

// A graph directory with a chain of so many calls.
Result<graphdir::GraphDir> write_chain(const std::filesystem::path& directory, const Operator& op, int calls) {
  std::string text =
      "import torch\n\nclass GraphModule(torch.nn.Module):\n"
      "    def forward(self, L_x_: torch.Tensor, L_w_: torch.Tensor, L_b_: torch.Tensor, L_m_: "
      "torch.Tensor):\n"
      "        l_x = L_x_\n        l_w = L_w_\n        l_b = L_b_\n        l_m = L_m_\n";
  std::string value = "l_x";
  for (int i = 0; i < calls; ++i) {
    const std::string next = fmt::format("v{}", i);
    text += "        " + fmt::format(fmt::runtime(op.statement), value, next) + "\n";
    if (i > 0) text += fmt::format("        {} = None\n", value);
    value = next;
  }
  text += fmt::format("        return ({},)\n", value);
  PASSNET_TRY_VOID(write_file(directory / "model.py", text));
  PASSNET_TRY_VOID(write_file(directory / "weight_meta.py", meta_class("x", "[4, 8]") + meta_class("w", "[8]") +
                                                                meta_class("b", "[8]") + meta_class("m", "[8, 8]")));
  return graphdir::load_graph_dir(directory);
}

// Medians in us of one chain: ours, PyTorch.
Result<std::pair<double, double>> measure_chain(std::vector<Contestant>& contestants, const graphdir::GraphDir& graph,
                                                const ContestOptions& options) {
  run::Worker& first = contestants[0].worker;
  const auto inputs = prepare(first, graph, options);
  if (!inputs) return inputs.error();
  Prepared prepared{first, graph, *inputs};
  enter(contestants[1], {graph.graph}, prepared, options);
  if (!contestants[1].problem.empty()) return resource_error(contestants[1].problem);
  measure_in_turns(contestants, options);
  const std::pair<double, double> medians{median_us(contestants[0]), median_us(contestants[1])};
  PASSNET_TRY_VOID(leave(contestants, options));
  return medians;
}

Result<void> run_all(const ContestOptions& options, const std::string& out) {
  constexpr int kShort = 16, kLong = 48;
  std::string pattern = (std::filesystem::temp_directory_path() / "passnet_overhead_XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    return io_error("create a directory below", std::filesystem::temp_directory_path().string(), errno);
  std::vector<Contestant> contestants;
  PASSNET_TRY(run::Worker ours, start_ours(options, run::Role::Reference));
  PASSNET_TRY(run::Worker pytorch, start_pytorch(options, "eager"));
  contestants.push_back({"our eager", std::move(ours)});
  contestants.push_back({"PyTorch eager", std::move(pytorch)});
  fmt::print(
      "| operator, float32 [4, 8] | PyTorch from Python, us | passnet-worker, us | ratio "
      "|\n|---|---:|---:|---:|\n");
  std::vector<double> ratios;
  Json rows = Json::array();
  for (const Operator& op : kOperators) {
    PASSNET_TRY(const graphdir::GraphDir small, write_chain(std::filesystem::path(pattern) / "short", op, kShort));
    PASSNET_TRY(const graphdir::GraphDir large, write_chain(std::filesystem::path(pattern) / "long", op, kLong));
    PASSNET_TRY(const auto few, measure_chain(contestants, small, options));
    PASSNET_TRY(const auto many, measure_chain(contestants, large, options));
    const double ours_us = (many.first - few.first) / (kLong - kShort),
                 pytorch_us = (many.second - few.second) / (kLong - kShort);
    ratios.push_back(pytorch_us / ours_us);
    fmt::print("| {} | {:.2f} | {:.2f} | {:.2f}x |\n", op.name, pytorch_us, ours_us, ratios.back());
    rows.push_back({{"operator", op.name}, {"pytorch_us", pytorch_us}, {"ours_us", ours_us}});
  }
  std::filesystem::remove_all(pattern);
  const double mean = record::geometric_mean(ratios);
  fmt::print("| geometric mean | | | {:.2f}x |\n", mean);
  if (!out.empty())
    PASSNET_TRY_VOID(write_file(out, Json{{"geometric_mean", mean}, {"operators", rows}}.dump(1) + "\n"));
  return {};
}

}  // namespace
}  // namespace passnet::bench_tools

int main(int argc, char** argv) {
  using namespace passnet::bench_tools;
  ContestOptions options;
  options.threads = 1;
  options.trials = 400;
  options.pytorch_worker = PASSNET_SOURCE_DIR "/benchmarks/pytorch_worker.py";
  options.python = PASSNET_PYTHON;
  std::string out;
  CLI::App app{"overhead per operator at tiny shapes, PyTorch from Python and passnet-worker side by side"};
  app.add_option("--trials", options.trials)->capture_default_str();
  app.add_option("--out", out, "write all figures to this file as JSON");
  CLI11_PARSE(app, argc, argv);
  if (auto done = run_all(options, out); !done) {
    fmt::print(stderr, "{}\n", to_string(done.error()));
    return 4;
  }
  return 0;
}
