// Every graph of the shipped samples and of a corpus, on PyTorch eager, torch.compile, our eager and our
// passes, side by side in one run. Prints a markdown table per set of graphs; --out writes every figure as
// JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "bench/stats.h"
#include "contest.h"

namespace passnet::bench_tools {
namespace {

enum Side : size_t { kOurs, kEager, kCompiled, kPasses, kSides };
constexpr const char* kColumns[kSides] = {"our eager", "PyTorch eager", "torch.compile", "our passes"};

struct Row {
  std::string graph;
  double median[kSides] = {};  // us; 0: not timed
  std::string problem[kSides] = {};
};

struct Flags {
  std::string samples = "samples", corpus, out;
  int limit = 0;
  ContestOptions contest;
};

Result<std::vector<Contestant>> start_contestants(const ContestOptions& options) {
  std::vector<Contestant> contestants;
  for (size_t side = 0; side < kSides; ++side) {
    const auto role = side == kPasses ? run::Role::Candidate : run::Role::Reference;
    const bool ours = side == kOurs || side == kPasses;
    PASSNET_TRY(run::Worker worker,
                ours ? start_ours(options, role) : start_pytorch(options, side == kCompiled));
    contestants.push_back({kColumns[side], std::move(worker)});
  }
  return contestants;
}

// One graph on all sides. passes: of its sample; empty when it has none.
Result<Row> measure_graph(std::vector<Contestant>& contestants, const std::filesystem::path& path,
                          const std::string& name, const std::vector<pass::Pass>& passes,
                          const ContestOptions& options) {
  Row row{.graph = name};
  run::Worker& first = contestants[kOurs].worker;
  PASSNET_TRY(const fx::GraphDir graph, fx::load_graph_dir(path));
  const run::Answer<run::Bundle> inputs = prepare(first, graph, options);
  if (!inputs) {
    row.problem[kOurs] = inputs.error().error.message;
    PASSNET_TRY_VOID(leave(contestants));
    return row;
  }
  const Entry as_read{graph.graph};
  enter(contestants[kEager], first, as_read, *inputs, options);
  enter(contestants[kCompiled], first, as_read, *inputs, options);
  contestants[kPasses].problem = "no pass";
  if (!passes.empty()) {
    contestants[kPasses].problem.clear();
    const Result<Entry> rewritten = apply_passes(first, graph, passes, *inputs, options);
    if (rewritten)
      enter(contestants[kPasses], first, *rewritten, *inputs, options);
    else
      contestants[kPasses].problem = rewritten.error().message;
  }
  measure_in_turns(contestants, options);
  for (size_t side = 0; side < kSides; ++side) {
    row.median[side] = median_us(contestants[side]);
    row.problem[side] = contestants[side].problem;
  }
  PASSNET_TRY_VOID(leave(contestants));
  return row;
}

std::string cell(const Row& row, Side side) {
  return row.median[side] > 0        ? fmt::format("{:.1f}", row.median[side])
         : row.problem[side].empty() ? "-"
                                     : "(" + row.problem[side] + ")";
}

// Ratios a / b of all rows in which both sides were timed.
std::vector<double> ratios(const std::vector<Row>& rows, Side a, Side b) {
  std::vector<double> found;
  for (const Row& row : rows) {
    if (row.median[a] > 0 && row.median[b] > 0) found.push_back(row.median[a] / row.median[b]);
  }
  return found;
}

void print_table(const std::string& title, const std::vector<Row>& rows) {
  fmt::print(
      "\n### {}\n\nMedians in us.\n\n| graph | PyTorch eager | torch.compile | our eager | our passes "
      "|\n|---|---:|---:|---:|---:|\n",
      title);
  for (const Row& row : rows) {
    fmt::print("| {} | {} | {} | {} | {} |\n", row.graph, cell(row, kEager), cell(row, kCompiled),
               cell(row, kOurs), cell(row, kPasses));
  }
}

// A line per pair of sides: how many times faster the first is, and on how many graphs it is slower.
Json summarize_pairs(const std::string& title, const std::vector<Row>& rows) {
  constexpr std::pair<Side, Side> kPairs[] = {
      {kOurs, kEager}, {kCompiled, kEager}, {kPasses, kEager}, {kPasses, kCompiled}, {kPasses, kOurs}};
  Json summary = Json::array();
  fmt::print("\n| {}, {} graphs | geometric mean | slower on | graphs |\n|---|---:|---:|---:|\n", title,
             rows.size());
  for (const auto& [fast, slow] : kPairs) {
    const std::vector<double> all = ratios(rows, slow, fast);
    if (all.empty()) continue;
    const auto slower = std::count_if(all.begin(), all.end(), [](double ratio) { return ratio < 1; });
    const double share = static_cast<double>(slower) / static_cast<double>(all.size());
    fmt::print("| {} over {} | {:.2f}x | {:.0f} % | {} |\n", kColumns[fast], kColumns[slow],
               bench::geometric_mean(all), 100 * share, all.size());
    summary.push_back({{"set", title},
                       {"side", kColumns[fast]},
                       {"over", kColumns[slow]},
                       {"geometric_mean", bench::geometric_mean(all)},
                       {"slower_share", share},
                       {"graphs", all.size()}});
  }
  return summary;
}

Json rows_to_json(const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows) {
    Json one{{"graph", row.graph}};
    for (size_t side = 0; side < kSides; ++side) {
      if (row.median[side] > 0)
        one[kColumns[side]] = row.median[side];
      else
        one[kColumns[side]] = row.problem[side];
    }
    list.push_back(std::move(one));
  }
  return list;
}

struct Job {
  std::filesystem::path path;
  std::string name;
  std::filesystem::path pass_dir;
};

Result<std::vector<Job>> list_samples(const std::string& directory) {
  std::vector<std::filesystem::path> samples;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (std::filesystem::exists(entry.path() / "graph_list.txt")) samples.push_back(entry.path());
  }
  std::sort(samples.begin(), samples.end());
  std::vector<Job> jobs;
  for (const std::filesystem::path& path : samples) {
    PASSNET_TRY(const fx::Sample sample, fx::load_sample(path));
    for (size_t i = 0; i < sample.graph_names.size(); ++i) {
      jobs.push_back({sample.graph_paths[i], sample.name + "/" + sample.graph_names[i], sample.pass_dir});
    }
  }
  return jobs;
}

std::vector<Job> list_corpus(const std::string& directory) {
  std::vector<Job> jobs;
  for (const std::filesystem::path& path : fx::find_graph_dirs(directory)) {
    jobs.push_back({path, std::filesystem::relative(path, directory).string(), {}});
  }
  return jobs;
}

Result<std::vector<Row>> measure_jobs(std::vector<Contestant>& contestants, std::vector<Job> jobs,
                                      const Flags& flags) {
  if (flags.limit > 0 && jobs.size() > static_cast<size_t>(flags.limit))
    jobs.resize(static_cast<size_t>(flags.limit));
  std::vector<Row> rows;
  for (size_t i = 0; i < jobs.size(); ++i) {
    fmt::print(stderr, "[{}/{}] {}\n", i + 1, jobs.size(), jobs[i].name);
    std::vector<pass::Pass> passes;
    if (!jobs[i].pass_dir.empty()) {
      PASSNET_TRY(const auto files, pass::list_passes(jobs[i].pass_dir));
      for (const std::filesystem::path& file : files) {
        PASSNET_TRY(pass::Pass loaded, pass::load_pass(file));
        passes.push_back(std::move(loaded));
      }
    }
    Result<Row> row = measure_graph(contestants, jobs[i].path, jobs[i].name, passes, flags.contest);
    if (!row) return std::move(row).error().with_note(fmt::format("while measuring '{}'", jobs[i].name));
    rows.push_back(std::move(*row));
  }
  return rows;
}

Result<void> run_all(const Flags& flags) {
  PASSNET_TRY(std::vector<Contestant> contestants, start_contestants(flags.contest));
  Json report{{"threads", flags.contest.threads},
              {"warmup", flags.contest.warmup},
              {"trials", flags.contest.trials},
              {"summary", Json::array()}};
  const auto measure_set = [&](const std::string& title, std::vector<Job> jobs) -> Result<void> {
    PASSNET_TRY(const std::vector<Row> rows, measure_jobs(contestants, std::move(jobs), flags));
    print_table(title, rows);
    for (Json& line : summarize_pairs(title, rows)) report["summary"].push_back(std::move(line));
    report[title] = rows_to_json(rows);
    return {};
  };
  if (!flags.samples.empty()) {
    PASSNET_TRY(std::vector<Job> jobs, list_samples(flags.samples));
    PASSNET_TRY_VOID(measure_set("samples", std::move(jobs)));
  }
  if (!flags.corpus.empty()) PASSNET_TRY_VOID(measure_set("corpus", list_corpus(flags.corpus)));
  if (!flags.out.empty()) PASSNET_TRY_VOID(write_file(flags.out, report.dump(1) + "\n"));
  return {};
}

}  // namespace
}  // namespace passnet::bench_tools

int main(int argc, char** argv) {
  using namespace passnet::bench_tools;
  Flags flags;
  flags.contest.pytorch_worker = PASSNET_SOURCE_DIR "/bench/pytorch_worker.py";
  flags.contest.python = PASSNET_PYTHON;
  CLI::App app{"PyTorch eager, torch.compile, our eager and our passes side by side"};
  app.add_option("--samples", flags.samples, "directory of samples; empty: none")->capture_default_str();
  app.add_option("--corpus", flags.corpus, "directory of graphs without passes");
  app.add_option("--threads", flags.contest.threads)->capture_default_str();
  app.add_option("--warmup", flags.contest.warmup)->capture_default_str();
  app.add_option("--trials", flags.contest.trials)->capture_default_str();
  app.add_option("--limit", flags.limit, "at most so many graphs of each set; 0: all")->capture_default_str();
  app.add_option("--out", flags.out, "write all figures to this file as JSON");
  CLI11_PARSE(app, argc, argv);
  if (auto done = run_all(flags); !done) {
    fmt::print(stderr, "{}\n", to_string(done.error()));
    return 4;
  }
  return 0;
}
