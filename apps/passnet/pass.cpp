// passnet pass check|match: build and match without timing.
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "command.h"
#include "pass_new.h"
#include "fx/print.h"
#include "fx/sample.h"
#include "pass/source.h"
#include "rewrite/match.h"
#include "run/evaluate.h"
#include "bench/verdict.h"
#include "report/row.h"
#include "run/tensor_files.h"

namespace passnet::cli {

namespace {

// Inputs, expected and found outputs of a graph; what it did not come to is left out.
Result<void> dump_tensors(const std::filesystem::path& directory, const run::GraphTensors& tensors) {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) return io_error("create", directory.string(), failed.value());
  const std::pair<const char*, const run::Bundle*> files[] = {
      {"inputs", &tensors.inputs}, {"expected", &tensors.expected}, {"found", &tensors.found}};
  for (const auto& [name, bundle] : files) {
    const std::filesystem::path path = directory / fmt::format("{}.safetensors", name);
    if (bundle->fd) {
      PASSNET_TRY_VOID(run::save_bundles(path, {bundle}));
    } else {
      std::filesystem::remove(path, failed);  // of an earlier check
    }
  }
  fmt::print("  tensors: {}\n", directory.string());
  return {};
}

Result<ExitCode> check_sample(const fx::Sample& sample, const std::string& dump) {
  run::EvaluateOptions options;
  options.timed = false;
  options.interrupted = &interrupted();
  ExitCode code = kOk;
  run::EvaluateHooks hooks;
  hooks.finished = [&](const bench::RunRecord& record) -> Result<void> {
    const report::Row row = report::rows_of({record}).front();
    fmt::print("{}/{}: {}, {} site{} replaced\n", record.sample, record.graph, row.headline, row.sites, row.sites == 1 ? "" : "s");
    if (!row.problem.empty()) {
      for (const std::string_view line : split(row.problem, '\n')) fmt::print("  {}\n", line);
    }
    if (!row.verdict.correct_at(bench::kCorrectT)) code = kNotAllCorrect;
    return {};
  };
  if (!dump.empty()) {
    hooks.tensors = [&](const std::string& graph, const run::GraphTensors& tensors) -> Result<void> {
      PASSNET_TRY(const std::filesystem::path directory, run::tensor_directory(dump, sample.name, graph));
      return dump_tensors(directory, tensors);
    };
  }
  PASSNET_TRY_VOID(run::evaluate_sample(sample, options, hooks));
  return code;
}

Result<ExitCode> check_paths(const std::vector<std::string>& paths, const std::string& dump) {
  ExitCode worst = kOk;
  for (const std::string& path : paths) {
    if (std::filesystem::is_directory(std::filesystem::path(path) / "pass_dir")) {
      PASSNET_TRY(const fx::Sample sample, fx::load_sample(path));
      PASSNET_TRY(const ExitCode code, check_sample(sample, dump));
      worst = std::max(worst, code);
      continue;
    }
    PASSNET_TRY(const std::vector<pass::Pass> passes, pass::load_passes(path));
    for (const pass::Pass& pass : passes) {
      fmt::print("{}: pattern of {} nodes, plan '{}', kernels:{}{}{}\n", pass.name, pass.pattern.size(), pass.plan.entry,
                 pass.cpu_source.empty() ? "" : " CPU", pass.cuda_source.empty() ? "" : " CUDA",
                 pass.has_triton ? " Triton" : "");
    }
  }
  return worst;
}

void print_match(const ir::Graph& graph, const rewrite::Match& match) {
  for (const ir::NodeId node : match.nodes) {
    if (node == ir::kNoNode || graph.node(node).kind == ir::NodeKind::Placeholder) continue;
    fmt::print("  {}:{}: {}\n", graph.file, graph.locate(graph.node(node)).line, fx::print_node(graph, graph.node(node)));
  }
}

Result<ExitCode> match_pass(const std::string& pass_path, const std::vector<std::string>& graph_paths, bool strict) {
  PASSNET_TRY(const std::vector<pass::Pass> passes, pass::load_passes(pass_path));
  ExitCode code = kOk;
  for (const std::string& root : graph_paths) {
    const std::vector<std::filesystem::path> found = fx::find_graph_dirs(root);
    if (found.empty()) return bad_input(fmt::format("no model.py in or below '{}'", root));
    for (const std::filesystem::path& path : found) {
      PASSNET_TRY(fx::GraphDir graph, fx::load_graph_dir(path));
      rewrite::PreparedGraph prepared(graph.graph, strict);
      for (const pass::Pass& pass : passes) {
        PASSNET_TRY(const rewrite::MatchReport report, rewrite::find_matches(pass.pattern, prepared));
        fmt::print("{}: pass '{}': {} match{}\n", path.string(), pass.name, report.matches.size(), report.matches.size() == 1 ? "" : "es");
        for (const rewrite::Match& match : report.matches) print_match(graph.graph, match);
        for (const rewrite::NearestMiss& refused : report.refused) fmt::print("  refused: {}\n", rewrite::to_string(refused));
        if (report.miss) fmt::print("  {}\n", rewrite::to_string(*report.miss));
        if (report.matches.empty()) code = kNotAllCorrect;
      }
    }
  }
  return code;
}

void finish(const Result<ExitCode>& result, int& exit_code) {
  if (interrupted()) exit_code = kInterrupted;
  else exit_code = result ? *result : report_error(result.error());
}

}  // namespace

void add_pass(CLI::App& app, int& exit_code) {
  CLI::App* group = app.add_subcommand("pass", "check, match or start passes");
  group->require_subcommand(1);

  auto paths = std::make_shared<std::vector<std::string>>();
  CLI::App* check = group->add_subcommand("check", "read, match, build and compare passes without timing them");
  check->add_option("PATH", *paths, "sample directory, pass_dir, or Name.py")->required();
  check->footer("Example:  passnet pass check samples/vit_add_layer_norm --dump tensors\n"
                "Exit codes: 0 all correct, 1 not all correct, 2 usage, 3 bad input, 4 resource, 70 our bug, 130 interrupted");
  auto dump = std::make_shared<std::string>();
  check->add_option("--dump", *dump, "write DIR/SAMPLE/GRAPH/{inputs,expected,found}.safetensors of each graph")->type_name("DIR");
  check->callback([paths, dump, &exit_code] {
    catch_interrupts();
    finish(check_paths(*paths, *dump), exit_code);
  });

  auto pass_path = std::make_shared<std::string>();
  auto graphs = std::make_shared<std::vector<std::string>>();
  auto strict = std::make_shared<bool>(false);
  CLI::App* match = group->add_subcommand("match", "show where a pass matches, or the nearest miss");
  match->add_option("PASS", *pass_path, "Name.py, pass_dir, or sample directory")->required();
  match->add_option("GRAPH", *graphs, "graph directories, or directories that hold some")->required();
  match->add_flag("--strict", *strict, "upstream's literal matching");
  match->footer("Example:  passnet pass match samples/vit_add_layer_norm samples/vit_add_layer_norm/graphs");
  match->callback([=, &exit_code] { finish(match_pass(*pass_path, *graphs, *strict), exit_code); });

  add_pass_new(*group, exit_code);
}

}  // namespace passnet::cli
