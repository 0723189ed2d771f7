// passnet score: ES(t), S(t) and the aggregated score, recomputed from records or from upstream's logs alone.
#include "record/score/score.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/json/json.h"
#include "command.h"
#include "options.h"
#include "record/score/interval.h"
#include "record/score/summary.h"
#include "record/verdict.h"
#include "report/exchange/exchange.h"
#include "report/summary.h"
#include "run/keep/load_records.h"

namespace passnet::cli {

namespace {

struct ScoreFlags {
  std::vector<std::string> paths;
  record::ScoreOptions options;
  bool extended = false;
  bool json = false;
  std::string records_as;  // empty: the score is computed
};

using record::LeftOut;

// A graph by its name, what is said of it in a word, and what the score counts; no verdict: it is left out.
struct ScoredGraph {
  std::string name, word;
  LeftOut left = LeftOut::No;
  std::optional<record::Verdict> verdict;
  record::Interval interval = {};  // 95 %, of the ratio
  /// Of what is correct and was timed.
  std::optional<double> ratio() const {
    const bool timed = verdict && verdict->correct_at(record::kCorrectT) && verdict->speedup > 0;
    return timed ? std::optional(verdict->speedup) : std::nullopt;
  }
};

struct Scored {
  std::vector<ScoredGraph> graphs;
  std::vector<record::Counted> counted;  // of records that the score counts
  bool of_records = false;               // not of a log
  size_t unchained = 0;                  // records that are in no chain
  size_t count(LeftOut left) const { return static_cast<size_t>(std::ranges::count(graphs, left, &ScoredGraph::left)); }
};

// An upstream log says no more than the verdict.
std::string word_of(const record::Verdict& verdict) {
  if (verdict.status != record::Status::Correct) return record::to_string(verdict.status);
  if (verdict.correct_at(record::kCorrectT)) return "correct";
  return verdict.passes_from <= record::kCorrectT + record::kNearRungs ? "inexact" : "wrong";
}

void add(const record::RunRecord& record, Scored& scored) {
  ScoredGraph& graph = scored.graphs.emplace_back();
  graph.name = record.sample + "/" + record.graph;
  graph.left = record::left_out(record);
  graph.word = graph.left == LeftOut::Disturbed ? "disturbed" : record::headline(record);
  if (graph.left != LeftOut::No) return;
  graph.verdict = scored.counted.emplace_back(record::counted(record)).verdict;
  graph.interval = record::speedup_interval(record);
}

Result<void> load_file(const std::filesystem::path& file, run::RunSessions& sessions, Scored& scored) {
  if (file.extension() == ".jsonl") {
    PASSNET_TRY(const record::Chain chain,
                run::read_whole_chain(file, sessions, [&](const record::RunRecord& record) { add(record, scored); }));
    scored.unchained += chain.unchained;
    scored.of_records = scored.of_records || !chain.lines.empty();
    return {};
  }
  PASSNET_TRY(const std::string text, read_file(file, FileKind::Lines));
  PASSNET_TRY(const std::vector<record::Verdict> verdicts, record::verdicts_from_upstream_log(file.string(), text));
  const std::vector<std::string> names = record::names_in_upstream_log(text);
  for (size_t i = 0; i < verdicts.size(); ++i)
    scored.graphs.push_back({names.at(i), word_of(verdicts[i]), LeftOut::No, verdicts[i]});
  return {};
}

// The file, or those of every sample of a run, in order of path.
Result<std::vector<std::filesystem::path>> files_of(const std::filesystem::path& path) {
  if (directory_exists(path) || !path_exists(path)) return run::find_record_files(path);
  return std::vector{path};
}

// records.jsonl of a file, or of every sample of a run; an upstream log else.
Result<Scored> load_graphs(const std::filesystem::path& path) {
  PASSNET_TRY(const std::vector<std::filesystem::path> files, files_of(path));
  Scored scored;
  run::RunSessions sessions;
  for (const std::filesystem::path& file : files) PASSNET_TRY_VOID(load_file(file, sessions, scored));
  return scored;
}

std::vector<record::Verdict> verdicts_of(const std::vector<ScoredGraph>& graphs) {
  std::vector<record::Verdict> verdicts;
  for (const ScoredGraph& graph : graphs) {
    if (graph.verdict) verdicts.push_back(*graph.verdict);
  }
  return verdicts;
}

// A log says less than records, and a path holds either.
record::Summary summary_of(const Scored& scored, const record::ScoreOptions& options) {
  return scored.of_records ? record::summary_of(scored.counted, options)
                           : record::summary_of(verdicts_of(scored.graphs), options);
}

void print_score(const std::string& name, const Scored& scored, const record::Score& score,
                 const record::Summary& summary) {
  say("verdict           ratio  graph\n");
  for (const ScoredGraph& graph : scored.graphs) {
    const std::optional<double> ratio = graph.ratio();
    say("{:<20}  {:>7}  {}\n", graph.word, ratio ? fmt::format("{:.2f}x", *ratio) : "-", graph.name);
  }
  const std::string geomean = score.geomean_speedup ? fmt::format("{:.3f}", *score.geomean_speedup) : "-";
  say("\n{}: {} graphs, {:.1f} % correct, {:.1f} % faster, geometric mean of the speedup {}\n", name, score.total,
      100 * score.correct_share, 100 * score.fast_share, geomean);
  if (const size_t disturbed = scored.count(LeftOut::Disturbed); disturbed > 0)
    say("not in the score: {} disturbed by other processes; 'passnet eval --resume' measures them again\n", disturbed);
  if (const size_t failed = scored.count(LeftOut::MachineFailed); failed > 0)
    say("not in the score: {} that the machine kept from being evaluated; 'passnet eval --resume' does so again\n",
        failed);
  if (const size_t unranked = scored.count(LeftOut::NoWork); unranked > 0)
    say("not in the score: {} unranked, as an answer that takes no work, or has an input built in, would pass too\n",
        unranked);
  if (const size_t in_python = scored.count(LeftOut::HostCode); in_python > 0)
    say("not in the score: {} unranked, as host code of their passes ran in Python\n", in_python);
  if (const size_t below = scored.count(LeftOut::BelowFloor); below > 0)
    say("not in the score: {} unranked, faster than this machine moves what the graph must move\n", below);
  if (const size_t uneven = scored.count(LeftOut::Uneven); uneven > 0)
    say("not in the score: {} unranked, far slower where inputs hold outliers\n", uneven);
  if (const size_t unconfined = scored.count(LeftOut::Unconfined); unconfined > 0)
    say("not in the score: {} below the isolation level '{}'; 'passnet doctor' says what this machine lacks\n",
        unconfined, record::to_string(record::kRankedIsolation));
  if (scored.unchained > 0)
    say("unchained: {} records of an older passnet; nothing shows whether they were changed\n", scored.unchained);
  say("{}\n", report::reach_text(summary));
  say("aggregated score {:.6f} (log10 {:.9f}; eager = 1)\n", score.aggregated_linear, score.aggregated);
  for (const std::string& text : {report::below_speedup_text(score), report::other_scores_text(summary, score)}) {
    if (!text.empty()) say("{}\n", text);
  }
  say("\n");
  say("   t        S(t)       ES(t)   correct\n");
  for (const record::ScorePoint& point : score.points) {
    say("{:4d}  {:10.6f}  {:10.6f}  {:6.1f} %\n", point.t, point.s, point.es, 100 * point.correct_share);
  }
}

Json to_json(const std::string& path, const Scored& scored, const record::Score& score,
             const record::Summary& summary) {
  Json json = record::to_json(score, path);
  json["summary"] = record::to_json(summary);
  json["unchained"] = scored.unchained;
  json["graphs"] = Json::array();
  for (const ScoredGraph& graph : scored.graphs) {
    const std::optional<double> ratio = graph.ratio();
    Json row{{"graph", graph.name}, {"verdict", graph.word}, {"speedup", ratio ? Json(*ratio) : Json(nullptr)}};
    if (graph.interval.known()) row["interval"] = {graph.interval.low, graph.interval.high};
    json["graphs"].push_back(std::move(row));
  }
  return json;
}

// Prints the records in another form.
Result<void> print_records(const ScoreFlags& flags) {
  run::RunSessions sessions;
  Json metrics = Json::array();
  const auto add = [&](const record::RunRecord& record) {
    if (flags.records_as == "pytorch") {
      for (Json& metric : report::pytorch_benchmark(record)) metrics.push_back(std::move(metric));
    } else if (const std::optional<Json> trace = report::flashinfer_trace(record)) {
      say("{}\n", dump(*trace));
    }
  };
  for (const std::string& path : flags.paths) {
    PASSNET_TRY(const std::vector<std::filesystem::path> files, files_of(path));
    for (const std::filesystem::path& file : files) {
      PASSNET_TRY([[maybe_unused]] const record::Chain chain, run::read_whole_chain(file, sessions, add));
    }
  }
  if (flags.records_as == "pytorch") say("{}\n", dump(metrics, 1));
  return {};
}

Result<void> run_score(const ScoreFlags& flags) {
  if (!flags.records_as.empty()) return print_records(flags);
  for (const std::string& path : flags.paths) {
    PASSNET_TRY(const Scored scored, load_graphs(path));
    const std::vector<ScoredGraph>& graphs = scored.graphs;
    if (graphs.empty()) return bad_input(fmt::format("'{}' holds no finished record", path));
    const record::Score score = record::score(verdicts_of(graphs), flags.options);
    const record::Summary summary = summary_of(scored, flags.options);
    if (flags.json)
      say("{}\n", dump(to_json(path, scored, score, summary)));
    else
      print_score(path, scored, score, summary);
  }
  return {};
}

}  // namespace

void add_score(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ScoreFlags>();
  CLI::App* command =
      app.add_subcommand("score", "compute ES(t), S(t) and the aggregated score from records or PassBench's logs");
  command
      ->add_option("PATH", flags->paths,
                   "a run (--out of 'passnet eval'), its records.jsonl, or a log of PassBench's tools")
      ->required();
  command->add_option("--penalty", flags->options.penalty_base, "value of a graph that is not correct (b)")
      ->check(number_in(1e-9, 1.0))
      ->capture_default_str();
  command
      ->add_option("--slow-exponent", flags->options.slow_exponent,
                   "p: a correct graph with a speedup s below 1 counts s^(1+p)")
      ->check(number_in(0.0, 100.0))
      ->capture_default_str();
  command->add_flag("--extended", flags->extended,
                    "forgive failures at the t of PassBench's mismatch_extended (docs/scoring.md)");
  command
      ->add_option(
          "--format", flags->records_as,
          "print the records instead: pytorch, benchmark JSON of PyTorch's database; flashinfer-trace, a line each")
      ->check(one_of({"pytorch", "flashinfer-trace"}));
  add_json_flag(*command, flags->json);
  command->footer("Example:  passnet score passnet-out/latest");
  command->callback([flags, &exit_code] {
    if (flags->extended) flags->options.interpretation = record::Interpretation::MismatchExtended;
    exit_code = finish(run_score(*flags));
  });
}

}  // namespace passnet::cli
