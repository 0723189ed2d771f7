// Every graph of the shipped samples and of a corpus, on PyTorch in the ways its users call it, on our eager and on our
// passes (shipped, or what `passnet author` made of them), side by side in one run. Prints a markdown table per set of graphs; --out writes every figure as JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <thread>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/processors.h"
#include "base/text/strings.h"
#include "contest.h"
#include "record/stats.h"
#include "run/batch/job.h"
#include "run/worker/shared_device.h"

namespace passnet::bench_tools {
namespace {

/// One way to run a graph. The first is our eager, which makes the inputs and the expected outputs of all.
struct Side {
  const char* name;
  const char* pytorch;     // mode of pytorch_worker.py; nullptr: our own worker
  const char* cuda_graph;  // of our own worker
  bool passes;
};
constexpr Side kOurs{"our eager", nullptr, "off", false};
constexpr Side kEager{"PyTorch eager", "eager", "", false};
constexpr Side kCompiled{"torch.compile", "compile", "", false};
const std::vector<Side> kCpuSides{kOurs, kEager, kCompiled, {"our passes", nullptr, "off", true}};
const std::vector<Side> kGpuSides{kOurs,
                                  kEager,
                                  kCompiled,
                                  {"reduce-overhead", "reduce-overhead", "", false},
                                  {"max-autotune", "max-autotune", "", false},
                                  {"CUDAGraph from Python", "cuda-graph", "", false},
                                  {"our CUDA graph", nullptr, "auto", false},
                                  {"our passes", nullptr, "auto", true}};
/// Which sides are compared in the summary: how many times faster the first is.
constexpr std::pair<const char*, const char*> kPairs[] = {{"our eager", "PyTorch eager"},
                                                          {"torch.compile", "PyTorch eager"},
                                                          {"CUDAGraph from Python", "torch.compile"},
                                                          {"our CUDA graph", "torch.compile"},
                                                          {"our CUDA graph", "reduce-overhead"},
                                                          {"our CUDA graph", "max-autotune"},
                                                          {"our CUDA graph", "CUDAGraph from Python"},
                                                          {"our passes", "PyTorch eager"},
                                                          {"our passes", "torch.compile"},
                                                          {"our passes", "reduce-overhead"},
                                                          {"our passes", "max-autotune"},
                                                          {"our passes", "CUDAGraph from Python"},
                                                          {"our passes", "our eager"}};
const std::vector<record::Track> kGpuTracks{
    {"host", "same", "warm"}, {"host", "fresh", "warm"}, {"device", "same", "warm"}, {"device", "fresh", "flushed"}};

struct Cell {
  std::vector<double> medians;  // us, by track; 0: not timed
  std::string problem, mode;
};
struct Row {
  std::string graph;
  std::vector<Cell> cells;  // by side
};

struct Job {
  std::filesystem::path path;
  std::string name;
  std::string sample;  // as `passnet author` calls it
  std::filesystem::path pass_dir;
};

struct Flags {
  std::string samples = "samples", corpus, authored, out, device = "cpu", leave_out;
  int limit = 0, at_a_time = 1;
  size_t first = 0, every = 1;
  ContestOptions contest;
  std::vector<Side> sides;
};

/// processors: of the lane. A worker is bound to the first of them, where no other lane gets its graph ready.
Result<std::vector<Contestant>> start_contestants(const Flags& flags, std::vector<int> processors) {
  ContestOptions contest = flags.contest;
  contest.processors = std::move(processors);
  std::vector<Contestant> contestants;
  for (const Side& side : flags.sides) {
    const auto role = side.passes ? run::Role::Candidate : run::Role::Reference;
    PASSNET_TRY(run::Worker worker,
                side.pytorch == nullptr ? start_ours(contest, role) : start_pytorch(contest, side.pytorch));
    contestants.push_back({side.name, std::move(worker), side.cuda_graph});
  }
  return contestants;
}

/// The graph as the side with passes runs it. Where the author left it alone, by no pass or by one that declines, that is as it
/// was read: whoever asked the author gets it so. A shipped pass that leaves it alone is a mistake.
Result<Entry> entry_with(run::Worker& first, const graphdir::GraphDir& graph,
                         const std::optional<std::vector<pass::Pass>>& passes, const Flags& flags) {
  if (!passes) return bad_pass("no pass");
  std::optional<Entry> made;
  if (!passes->empty()) {
    PASSNET_TRY(made, apply_passes(first, graph, *passes, flags.contest));
  }
  if (made) return std::move(*made);
  if (flags.authored.empty()) return bad_pass("no pass replaces anything in this graph");
  return Entry{graph.graph};
}

/// Gets all sides ready at once, as compiling takes seconds. False: the graph has no inputs; row says why.
Result<bool> get_ready(std::vector<Contestant>& contestants, const std::filesystem::path& path,
                       const std::optional<std::vector<pass::Pass>>& passes, const Flags& flags, Row& row) {
  run::Worker& first = contestants[0].worker;
  PASSNET_TRY(const graphdir::GraphDir graph, graphdir::load_graph_dir(path));
  const Result<run::Bundle> inputs = prepare(first, graph, flags.contest);
  if (!inputs) {
    row.cells[0].problem = inputs.error().message;
    return false;
  }
  const Entry as_read{graph.graph};
  const Result<Entry> rewritten = entry_with(first, graph, passes, flags);
  Prepared prepared{first, graph, *inputs};
  std::vector<std::jthread> helpers;
  for (size_t side = 1; side < contestants.size(); ++side) {
    Contestant& contestant = contestants[side];
    const bool with_passes = flags.sides[side].passes;
    if (with_passes && !rewritten) {
      contestant.problem = rewritten.error().message;
      continue;
    }
    const Entry& entry = with_passes ? *rewritten : as_read;
    helpers.emplace_back([&] { enter(contestant, entry, prepared, flags.contest); });
  }
  return true;
}

/// Measures one graph on all sides, timed while no other is got ready. passes: of its sample; none: the side with passes has
/// nothing to show.
Result<Row> measure_graph(std::vector<Contestant>& contestants, run::DeviceSlot& slot, const Job& job,
                          const std::optional<std::vector<pass::Pass>>& passes, const Flags& flags) {
  Row row{job.name, std::vector<Cell>(contestants.size())};
  bool ready = false;
  {
    const run::DeviceSlot::Use turn = slot.computing();
    PASSNET_TRY(ready, get_ready(contestants, job.path, passes, flags, row));
  }
  if (ready) {
    const run::DeviceSlot::Use alone = slot.timing();
    measure_in_turns(contestants, flags.contest);
    for (size_t side = 0; side < contestants.size(); ++side) {
      for (size_t track = 0; track < flags.contest.tracks.size(); ++track)
        row.cells[side].medians.push_back(median_us(contestants[side], track));
      row.cells[side].problem = contestants[side].problem;
      row.cells[side].mode = contestants[side].mode;
    }
  }
  const run::DeviceSlot::Use turn = slot.computing();
  PASSNET_TRY_VOID(leave(contestants, flags.contest));
  return row;
}

double median_of(const Row& row, size_t side, size_t track) {
  return track < row.cells[side].medians.size() ? row.cells[side].medians[track] : 0;
}

std::string cell(const Row& row, size_t side, size_t track) {
  const double median = median_of(row, side, track);
  if (median > 0) return fmt::format("{:.1f}", median);
  return row.cells[side].problem.empty() ? "-" : "(" + row.cells[side].problem.substr(0, 60) + ")";
}

// Ratios slow / fast of all rows in which both sides were timed.
std::vector<double> ratios(const std::vector<Row>& rows, size_t fast, size_t slow, size_t track) {
  std::vector<double> found;
  for (const Row& row : rows) {
    const double a = median_of(row, slow, track), b = median_of(row, fast, track);
    if (a > 0 && b > 0) found.push_back(a / b);
  }
  return found;
}

void print_table(const std::string& title, const std::vector<Row>& rows, const Flags& flags) {
  for (size_t track = 0; track < flags.contest.tracks.size(); ++track) {
    fmt::print("\n### {}: {}\n\nMedians in us.\n\n| graph |", title, record::describe(flags.contest.tracks[track]));
    for (const Side& side : flags.sides) fmt::print(" {} |", side.name);
    fmt::print("\n|---|");
    for (size_t side = 0; side < flags.sides.size(); ++side) fmt::print("---:|");
    fmt::print("\n");
    for (const Row& row : rows) {
      fmt::print("| {} |", row.graph);
      for (size_t side = 0; side < flags.sides.size(); ++side) fmt::print(" {} |", cell(row, side, track));
      fmt::print("\n");
    }
  }
}

std::optional<size_t> find_side(const Flags& flags, std::string_view name) {
  for (size_t side = 0; side < flags.sides.size(); ++side) {
    if (flags.sides[side].name == name) return side;
  }
  return std::nullopt;
}

// A line per pair of sides: how many times faster the first is, and on how many graphs it is slower.
Json summarize_pairs(const std::string& title, const std::vector<Row>& rows, const Flags& flags) {
  Json summary = Json::array();
  for (size_t track = 0; track < flags.contest.tracks.size(); ++track) {
    const std::string how = record::describe(flags.contest.tracks[track]);
    fmt::print("\n| {}, {} graphs, {} | geometric mean | slower on | graphs |\n|---|---:|---:|---:|\n", title,
               rows.size(), how);
    for (const auto& [fast_name, slow_name] : kPairs) {
      const auto fast = find_side(flags, fast_name), slow = find_side(flags, slow_name);
      if (!fast || !slow) continue;
      const std::vector<double> all = ratios(rows, *fast, *slow, track);
      if (all.empty()) continue;
      const auto slower = std::count_if(all.begin(), all.end(), [](double ratio) { return ratio < 1; });
      const double share = static_cast<double>(slower) / static_cast<double>(all.size());
      fmt::print("| {} over {} | {:.2f}x | {:.0f} % | {} |\n", fast_name, slow_name, record::geometric_mean(all),
                 100 * share, all.size());
      summary.push_back({{"set", title},
                         {"track", how},
                         {"side", fast_name},
                         {"over", slow_name},
                         {"geometric_mean", record::geometric_mean(all)},
                         {"slower_share", share},
                         {"graphs", all.size()}});
    }
  }
  return summary;
}

Json rows_to_json(const std::vector<Row>& rows, const Flags& flags) {
  Json list = Json::array();
  for (const Row& row : rows) {
    Json one{{"graph", row.graph}};
    for (size_t side = 0; side < flags.sides.size(); ++side) {
      const Cell& cell = row.cells[side];
      if (!cell.problem.empty() || cell.medians.empty())
        one[flags.sides[side].name] = cell.problem;
      else
        one[flags.sides[side].name] = {{"medians_us", cell.medians}, {"mode", cell.mode}};
    }
    list.push_back(std::move(one));
  }
  return list;
}

Result<std::vector<Job>> list_samples(const std::string& directory) {
  std::vector<std::filesystem::path> samples;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (std::filesystem::exists(entry.path() / "graph_list.txt")) samples.push_back(entry.path());
  }
  std::sort(samples.begin(), samples.end());
  std::vector<Job> jobs;
  for (const std::filesystem::path& path : samples) {
    PASSNET_TRY(const graphdir::Sample sample, graphdir::load_sample(path));
    for (size_t i = 0; i < sample.graph_names.size(); ++i) {
      jobs.push_back({sample.graph_paths[i], sample.name + "/" + sample.graph_names[i], sample.name, sample.pass_dir});
    }
  }
  return jobs;
}

std::vector<Job> list_corpus(const std::string& directory) {
  std::vector<Job> jobs;
  for (const std::filesystem::path& path : graphdir::find_graph_dirs(directory)) {
    jobs.push_back({path, std::filesystem::relative(path, directory).string(), path.filename().string(), {}});
  }
  return jobs;
}

/// None: there is no list of passes.
Result<std::optional<std::vector<pass::Pass>>> load_passes(const std::filesystem::path& pass_dir) {
  std::optional<std::vector<pass::Pass>> passes;
  if (pass_dir.empty()) return passes;
  passes.emplace();
  PASSNET_TRY(const auto files, pass::list_passes(SourceFiles({pass_dir}), pass_dir));
  for (const std::filesystem::path& file : files) {
    PASSNET_TRY(pass::Pass loaded, pass::load_pass(file));
    passes->push_back(std::move(loaded));
  }
  return passes;
}

bool found_no_memory(const Row& row) {
  return std::ranges::any_of(row.cells,
                             [](const Cell& cell) { return cell.problem.find("out of memory") != std::string::npos; });
}

/// Graphs that found no memory beside those of other lanes are measured once more, alone.
/// keep: called with all rows so far after each graph, as a run may be cut off.
Result<std::vector<Row>> measure_jobs(std::vector<Job> jobs, const Flags& flags,
                                      const std::function<Result<void>(const std::vector<Row>&)>& keep) {
  size_t number = 0;
  std::erase_if(jobs, [&](const Job&) { return (number++ + flags.every - flags.first) % flags.every != 0; });
  if (flags.limit > 0 && jobs.size() > static_cast<size_t>(flags.limit)) jobs.resize(static_cast<size_t>(flags.limit));
  run::SharedDevice device(flags.at_a_time);
  std::vector<std::optional<std::vector<Contestant>>> lanes(static_cast<size_t>(flags.at_a_time));
  const std::vector<int> available = available_processors();
  const auto measure = [&](const Job& job, size_t lane) -> Result<Row> {
    fmt::print(stderr, "[{}/{}] {}\n", &job - jobs.data() + 1, jobs.size(), job.name);
    if (!lanes[lane]) {
      std::vector<int> processors = available;
      std::ranges::rotate(processors, processors.begin() + static_cast<ptrdiff_t>(lane % processors.size()));
      PASSNET_TRY(lanes[lane], start_contestants(flags, std::move(processors)));
    }
    PASSNET_TRY(const auto passes, load_passes(job.pass_dir));
    run::DeviceSlot slot(device);
    Result<Row> row = measure_graph(*lanes[lane], slot, job, passes, flags);
    if (!row) return std::move(row).error().with_note(fmt::format("while measuring '{}'", job.name));
    return row;
  };
  std::vector<Row> rows;
  PASSNET_TRY_VOID(run::for_each_item(std::span(jobs), {flags.at_a_time, nullptr}, measure, [&](Row row) {
    rows.push_back(std::move(row));
    return keep(rows);
  }));
  if (flags.at_a_time == 1) return rows;
  lanes.resize(1);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!found_no_memory(rows[i])) continue;
    PASSNET_TRY(rows[i], measure(jobs[i], 0));
    PASSNET_TRY_VOID(keep(rows));
  }
  return rows;
}

Result<void> run_all(Flags& flags) {
  PASSNET_TRY(flags.contest.gpu, run::parse_device(flags.device));
  flags.sides = flags.contest.gpu ? kGpuSides : kCpuSides;
  if (flags.contest.gpu) flags.contest.tracks = kGpuTracks;
  for (const std::string_view name : split(flags.leave_out, ','))
    std::erase_if(flags.sides, [&](const Side& side) { return side.name == name && name != kOurs.name; });
  Json report{{"device", flags.device},         {"threads", flags.contest.threads}, {"warmup", flags.contest.warmup},
              {"trials", flags.contest.trials}, {"tracks", Json::array()},          {"summary", Json::array()}};
  for (const record::Track& track : flags.contest.tracks) report["tracks"].push_back(record::describe(track));
  const auto keep = [&]() -> Result<void> {
    return flags.out.empty() ? Result<void>() : write_file(flags.out, report.dump(1) + "\n");
  };
  const auto measure_set = [&](const std::string& title, std::vector<Job> jobs) -> Result<void> {
    for (Job& job : jobs) {
      if (flags.authored.empty()) break;
      job.pass_dir = std::filesystem::path(flags.authored) / job.sample / "pass_dir";
    }
    PASSNET_TRY(const std::vector<Row> rows, measure_jobs(std::move(jobs), flags, [&](const std::vector<Row>& done) {
                  report[title] = rows_to_json(done, flags);
                  return keep();
                }));
    print_table(title, rows, flags);
    for (Json& line : summarize_pairs(title, rows, flags)) report["summary"].push_back(std::move(line));
    return keep();
  };
  if (!flags.samples.empty()) {
    PASSNET_TRY(std::vector<Job> jobs, list_samples(flags.samples));
    PASSNET_TRY_VOID(measure_set("samples", std::move(jobs)));
  }
  if (!flags.corpus.empty()) PASSNET_TRY_VOID(measure_set("corpus", list_corpus(flags.corpus)));
  return {};
}

}  // namespace
}  // namespace passnet::bench_tools

int main(int argc, char** argv) {
  using namespace passnet::bench_tools;
  Flags flags;
  flags.contest.pytorch_worker = PASSNET_SOURCE_DIR "/benchmarks/pytorch_worker.py";
  flags.contest.python = PASSNET_PYTHON;
  CLI::App app{"PyTorch eager, torch.compile, our eager and our passes side by side"};
  app.add_option("--samples", flags.samples, "directory of samples; empty: none")->capture_default_str();
  app.add_option("--corpus", flags.corpus, "directory of graphs without passes");
  app.add_option("--authored", flags.authored,
                 "directory that `passnet author` wrote: its passes take part, in place of the samples' own");
  app.add_option("--device", flags.device, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--leave-out", flags.leave_out, "sides that do not take part, by name, with commas between");
  app.add_option("--python", flags.contest.python, "a python3 that has PyTorch")->capture_default_str();
  app.add_option("--pytorch-worker", flags.contest.pytorch_worker, "benchmarks/pytorch_worker.py")
      ->capture_default_str();
  app.add_option("--threads", flags.contest.threads)->capture_default_str();
  app.add_option("--warmup", flags.contest.warmup)->capture_default_str();
  app.add_option("--trials", flags.contest.trials)->capture_default_str();
  app.add_option("--every", flags.every, "only each such graph")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--first", flags.first, "… from this one on, counted from 0")->capture_default_str();
  app.add_option("--limit", flags.limit, "at most so many graphs of each set; 0: all")->capture_default_str();
  app.add_option("--at-a-time", flags.at_a_time,
                 "graphs that are got ready at a time on a GPU, where one is timed alone")
      ->check(CLI::Range(1, 16))
      ->capture_default_str();
  app.add_option("--out", flags.out, "write all figures to this file as JSON");
  CLI11_PARSE(app, argc, argv);
  flags.contest.pytorch_worker = passnet::absolute_path(flags.contest.pytorch_worker);  // a worker runs elsewhere
  flags.first %= flags.every;
  if (auto done = run_all(flags); !done) {
    fmt::print(stderr, "{}\n", to_string(done.error()));
    return 4;
  }
  return 0;
}
