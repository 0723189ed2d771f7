// passnet score: ES(t), S(t) and the aggregated score, recomputed from records or from upstream's logs alone.
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "bench/score.h"
#include "bench/verdict.h"
#include "command.h"
#include "run/run_directory.h"

namespace passnet::cli {

namespace {

struct ScoreFlags {
  std::vector<std::string> paths;
  bench::ScoreOptions options;
  bool extended = false;
  bool json = false;
};

// records.jsonl of a file, or of every sample of a run (in order of path); an upstream log else.
Result<std::vector<bench::Verdict>> load_verdicts(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(path)) {
    PASSNET_TRY(files, run::find_record_files(path));
  } else {
    files.push_back(path);
  }
  std::vector<bench::Verdict> verdicts;
  for (const std::filesystem::path& file : files) {
    if (file.extension() == ".jsonl") {
      PASSNET_TRY(const std::vector<bench::RunRecord> records, bench::load_records(file.string()));
      const std::vector<bench::Verdict> some = bench::judge_all(records);
      verdicts.insert(verdicts.end(), some.begin(), some.end());
    } else {
      PASSNET_TRY(const std::string text, read_file(file));
      PASSNET_TRY(const std::vector<bench::Verdict> some, bench::verdicts_from_upstream_log(file.string(), text));
      verdicts.insert(verdicts.end(), some.begin(), some.end());
    }
  }
  return verdicts;
}

void print_score(const std::string& name, const bench::Score& score) {
  const std::string geomean = score.geomean_speedup ? fmt::format("{:.3f}", *score.geomean_speedup) : "-";
  fmt::print("{}: {} graphs, {:.1f} % correct, {:.1f} % faster, geometric mean of the speedup {}\n", name,
             score.total, 100 * score.correct_share, 100 * score.fast_share, geomean);
  fmt::print("aggregated score {:.6f} (log10 {:.9f}; eager = 1)\n\n", score.aggregated_linear, score.aggregated);
  fmt::print("   t        S(t)       ES(t)   correct\n");
  for (const bench::ScorePoint& point : score.points) {
    fmt::print("{:4d}  {:10.6f}  {:10.6f}  {:6.1f} %\n", point.t, point.s, point.es, 100 * point.correct_share);
  }
}

Result<void> run_score(const ScoreFlags& flags) {
  for (const std::string& path : flags.paths) {
    PASSNET_TRY(const std::vector<bench::Verdict> verdicts, load_verdicts(path));
    if (verdicts.empty()) return bad_input(fmt::format("'{}' holds no finished record", path));
    const bench::Score score = bench::score(verdicts, flags.options);
    if (flags.json) fmt::print("{}\n", bench::to_json(score, path).dump());
    else print_score(path, score);
  }
  return {};
}

}  // namespace

void add_score(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ScoreFlags>();
  CLI::App* command = app.add_subcommand("score", "ES(t), S(t) and the aggregated score from records or upstream's logs");
  command->add_option("PATH", flags->paths, "--out directory of 'passnet eval', records.jsonl, or an upstream log")->required();
  command->add_option("--penalty", flags->options.penalty_base, "what a wrong graph counts (b)")
      ->check(CLI::Range(1e-9, 1.0))->capture_default_str();
  command->add_option("--slow-exponent", flags->options.slow_exponent, "a correct graph slower than 1x counts s^(1+p)")
      ->check(CLI::Range(0.0, 100.0))->capture_default_str();
  command->add_flag("--extended", flags->extended, "upstream's mismatch_extended interpretation of failures");
  command->add_flag("--json", flags->json, "one JSON object per path");
  command->footer("Example:  passnet score passnet-out/latest");
  command->callback([flags, &exit_code] {
    if (flags->extended) flags->options.interpretation = bench::Interpretation::MismatchExtended;
    if (Result<void> done = run_score(*flags); !done) exit_code = report_error(done.error());
  });
}

}  // namespace passnet::cli
