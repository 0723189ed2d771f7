#include "dataset/samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/dtype_variant.h"
#include "analysis/identity.h"
#include "analysis/kernel_count.h"
#include "analysis/op_name.h"
#include "base/file/file.h"
#include "base/file/leftovers.h"
#include "base/file/line_file.h"
#include "base/hash.h"
#include "base/json/json_object.h"
#include "base/log.h"
#include "dataset/catalog/family.h"
#include "dataset/catalog/sample_list.h"
#include "dataset/choose.h"
#include "dataset/sample_name.h"
#include "dataset/screen.h"
#include "graphdir/entry_script.h"
#include "graphdir/graph_facts.h"
#include "graphdir/graph_tree.h"
#include "graphdir/graph_writer.h"
#include "graphdir/inputs/replay.h"
#include "graphdir/sample.h"
#include "run/batch/job.h"
#include "run/worker/requests.h"

namespace passnet {

PASSNET_JSON_FIELDS(dataset::SampleReport, "sample",
                    PASSNET_FIELD_AS("sample", hash) PASSNET_FIELDS(path, split, graphs, members, ops, unfit))

}  // namespace passnet

namespace passnet::dataset {

namespace {

/// What is kept of a subgraph until it is its turn.
struct Member {
  fs::path path;
  double bytes = 0;       // of its inputs
  std::string signature;  // element types and shapes of its inputs
  std::string family;
  std::string words;             // operator_words
  std::vector<std::string> ops;  // op_sequence
};

/// Graphs of one structure.
struct Group {
  std::string hash;  // of the structure
  std::string path;  // where its sample is, or will be, relative to the dataset
  std::vector<Member> members;
  const std::vector<std::string>& ops() const { return members.front().ops; }
};

std::string signature_of(const std::vector<graphdir::TensorMeta>& metas) {
  std::string text;
  for (const graphdir::TensorMeta& meta : metas)
    text += fmt::format("{}[{}] ", ir::name(meta.dtype), fmt::join(meta.shape, ","));
  return text;
}

size_t count_kernels(const ir::Graph& graph) {
  size_t count = 0;
  for (size_t i = 0; i < analysis::body_size(graph); ++i)
    count += analysis::kernel_class(graph, analysis::body_node(graph, i)) != ir::KernelClass::Free;
  return count;
}

// Groups in the order of their hashes, members in that of their paths; a member per signature.
Result<std::vector<Group>> group_graphs(const std::string& subgraphs, const SampleOptions& options) {
  const std::vector<fs::path> paths = graphdir::find_graph_dirs(subgraphs);
  if (paths.empty())
    return bad_input(fmt::format("no graph (model.py) at or below '{}'", subgraphs))
        .with_hint("passnet dataset decompose makes some");
  std::map<std::string, Group> groups;
  for (const fs::path& path : paths) {
    Result<graphdir::GraphDir> graph = graphdir::load_graph_dir(path);
    if (!graph) {
      log::warn(fmt::format("left out: {}", to_string(graph.error())));
      continue;
    }
    if (count_kernels(graph->graph) < options.min_kernels) continue;
    Member member{path,
                  graphdir::input_bytes(graph->weights) + graphdir::input_bytes(graph->inputs),
                  signature_of(graph->weights),
                  family_of(graph->graph),
                  operator_words(graph->graph),
                  op_sequence(graph->graph)};
    if (member.bytes > static_cast<double>(options.max_bytes)) continue;
    const std::string hash = sha256_hex("sample " + analysis::structure_hash(graph->graph));
    Group& group = groups[hash];
    group.hash = hash;
    const auto known = [&](const Member& other) { return other.signature == member.signature; };
    if (std::none_of(group.members.begin(), group.members.end(), known)) group.members.push_back(std::move(member));
  }
  std::vector<Group> list;
  for (auto& [hash, group] : groups) {
    if (group.members.size() >= options.min_shapes) list.push_back(std::move(group));
  }
  if (list.empty())
    return bad_input(fmt::format("none of the {} graphs below '{}' can be in a sample", paths.size(), subgraphs))
        .with_hint("see --min-ops, --min-shapes and --max-bytes");
  return list;
}

// A group per operator sequence, the largest, in the order in which they are wanted for a benchmark.
std::vector<Group> order_of_choice(std::vector<Group> groups) {
  std::map<std::vector<std::string>, size_t> largest;
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto [place, is_new] = largest.try_emplace(groups[i].ops(), i);
    if (!is_new && groups[i].members.size() > groups[place->second].members.size()) place->second = i;
  }
  std::vector<std::vector<std::string>> sequences;
  std::vector<size_t> indices;
  for (const auto& [ops, index] : largest) sequences.push_back(ops), indices.push_back(index);
  std::vector<Group> chosen;
  for (const size_t index : rank_sequences(sequences)) chosen.push_back(std::move(groups[indices[index]]));
  return chosen;
}

// Members from the smallest to the largest, as far apart as there are places.
std::vector<Member> spread(std::vector<Member> members, size_t places) {
  std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.bytes < b.bytes; });
  if (members.size() <= places) return members;
  std::vector<Member> kept;
  for (size_t i = 0; i < places; ++i)
    kept.push_back(members[places == 1 ? 0 : i * (members.size() - 1) / (places - 1)]);
  return kept;
}

// Where types cannot be inferred nothing is cast; screening tells whether that will do.
ir::Values types_of(const graphdir::GraphDir& graph, run::Worker& worker, std::chrono::milliseconds timeout) {
  if (!run::load_graph(worker, kScreened, graph.graph, {}, {}, timeout)) return {};
  Result<ir::Values> types = run::infer_types(worker, kScreened, graph.graph, {graph.weights, {}}, timeout);
  return types ? std::move(*types) : ir::Values{};
}

// "" when the graph of that element type is written to `to`, else why it is not fit.
Result<std::string> write_graph(const Member& member, ir::DType dtype, const fs::path& to, run::Worker& worker,
                                std::chrono::milliseconds timeout) {
  PASSNET_TRY(graphdir::GraphDir graph, graphdir::load_graph_dir(member.path));
  if (dtype != ir::DType::Float32) {
    std::optional<std::vector<graphdir::TensorMeta>> metas = analysis::retyped(graph.weights, dtype);
    if (!metas) return std::string("it has no float32 tensor");
    graph.weights = std::move(*metas);
    graph.graph = analysis::with_casts(graph.graph, dtype, types_of(graph, worker, timeout));
  }
  Json facts = graphdir::read_facts(member.path);
  facts["data_type"] = ir::name(dtype);
  const Json sources = graphdir::read_sources(member.path);
  PASSNET_TRY_VOID(graphdir::write_graph_dir(to, {graph.graph, graph.weights, facts, sources}));
  // What is screened is what was written.
  PASSNET_TRY(graph, graphdir::load_graph_dir(to));
  if (!worker.alive()) PASSNET_TRY_VOID(worker.start());
  std::string unfit = screen(worker, graph, timeout);
  std::error_code ignored;
  if (!unfit.empty()) fs::remove_all(to, ignored);
  return unfit;
}

// Makes the sample in `partial` and moves it to `path`, unless one is there or no graph is fit.
Result<SampleReport> write_by_way_of(const fs::path& partial, const fs::path& path, const Group& group,
                                     const SampleOptions& options, run::Worker& worker) {
  const std::chrono::milliseconds timeout(static_cast<int64_t>(options.timeout_s * 1000));
  SampleReport report;
  report.hash = group.hash;
  report.path = group.path;
  report.members = group.members.size();
  // By the first graph that the sample has, as `passnet dataset split` sees it.
  const auto describe = [&](const Member& first) {
    report.split = is_for_evaluation(first.family, options.eval_share, options.seed) ? "eval" : "train";
    report.ops = first.ops;
  };
  const std::vector<Member> members = spread(group.members, options.max_shapes);
  describe(members.front());
  std::string list;
  for (size_t i = 0; i < members.size(); ++i) {
    for (const ir::DType dtype : options.dtypes) {
      if (options.interrupted != nullptr && *options.interrupted) return resource_error("interrupted");
      const std::string name = fmt::format("{}_{}", i, ir::name(dtype));
      PASSNET_TRY(const std::string unfit, write_graph(members[i], dtype, partial / "graphs" / name, worker, timeout));
      if (!unfit.empty()) {
        report.unfit.push_back(fmt::format("{}: {}", name, unfit));
        continue;
      }
      if (list.empty()) describe(members[i]);
      list += name + "\n", ++report.graphs;
    }
  }
  if (report.graphs == 0 || entry_exists(path)) return report;
  PASSNET_TRY_VOID(write_file(partial / "graph_list.txt", list));
  PASSNET_TRY_VOID(graphdir::write_entry_script(partial));
  PASSNET_TRY_VOID(write_file(partial / "pass_dir/sorted_output_pass_rule_names.json", "[]\n"));
  std::error_code failed;
  fs::rename(partial, path, failed);
  if (failed) return io_error("rename", partial.string(), failed.value());
  return report;
}

Result<SampleReport> write_sample(const Group& group, const fs::path& out, const SampleOptions& options,
                                  run::Worker& worker) {
  const fs::path path = out / group.path;
  // Whoever writes into OUT holds its journal, so this is nobody else's; what a killed run left of it goes here.
  const fs::path partial = path.parent_path() / ("." + group.hash);
  std::error_code ignored;
  fs::remove_all(partial, ignored);
  Result<SampleReport> report = write_by_way_of(partial, path, group, options, worker);
  fs::remove_all(partial, ignored);
  return report;
}

// In the order of choice, or in that of their paths when all are listed.
std::vector<ListedSample> listed(const std::vector<SampleReport>& reports, bool chosen) {
  std::vector<ListedSample> samples;
  for (const SampleReport& report : reports) {
    if (report.graphs > 0) samples.push_back({report.path, report.split, report.graphs, report.ops});
  }
  if (!chosen) std::ranges::sort(samples, {}, [](const ListedSample& sample) { return fs::path(sample.path); });
  return samples;
}

// OUT/options.json: all samples of a directory are made by the same rules.
Result<void> hold_to_rules(const fs::path& out, const std::string& subgraphs, const SampleOptions& options) {
  std::vector<std::string_view> dtypes;
  for (const ir::DType dtype : options.dtypes) dtypes.push_back(ir::name(dtype));
  const Json rules{{"subgraphs", fs::path(subgraphs).filename().string()},
                   {"dtypes", dtypes},
                   {"max_shapes", options.max_shapes},
                   {"min_shapes", options.min_shapes},
                   {"min_kernels", options.min_kernels},
                   {"max_bytes", options.max_bytes},
                   {"tasks", options.limit},
                   {"eval_share", options.eval_share},
                   {"seed", options.seed}};
  const std::string text = graphdir::print_indented(rules);
  const fs::path file = out / "options.json";
  if (!entry_exists(file)) return write_file(file, text);
  PASSNET_TRY(const std::string found, read_file(file, FileKind::Graph));
  if (found != text)
    return bad_input(
               fmt::format("'{}' was made by other rules: {} differs from this run's", out.string(), file.string()))
        .with_hint("give another --out, or the options that stand there");
  return {};
}

using Reports = std::map<std::string, SampleReport>;  // by hash

// What an earlier run made of the group; nullptr when it has to be screened.
const SampleReport* still_valid(const Reports& earlier, const Group& group, const fs::path& out) {
  const SampleReport* report = run::find_line(earlier, group.hash);
  if (report == nullptr) return nullptr;
  const bool holds = report->graphs > 0 ? entry_exists(out / report->path) : report->members == group.members.size();
  return holds ? report : nullptr;
}

// A sample that is there stays where it is. A new one has the shortest name that is no other's.
void place(std::vector<Group>& groups, const Reports& earlier, const fs::path& out) {
  std::map<std::string, std::string> owners;  // hash by path
  for (const auto& [hash, report] : earlier) owners.emplace(report.path, hash);
  for (Group& group : groups) {
    const SampleReport* known = run::find_line(earlier, group.hash);
    if (known != nullptr && entry_exists(out / known->path)) {
      group.path = known->path;
    } else {
      const std::string& words = group.members.front().words;
      for (size_t digits = 8; digits == 8 || owners.at(group.path) != group.hash; digits += 8) {
        group.path = "samples/" + sample_name(words, group.hash, digits);
        owners.emplace(group.path, group.hash);
      }
    }
  }
}

}  // namespace

Json to_json(const SampleReport& report) { return to_json_object(report); }

Result<void> make_samples(const std::string& subgraphs, const fs::path& out, const SampleOptions& options,
                          const std::function<void(const SampleReport&)>& finished) {
  PASSNET_TRY(std::vector<Group> groups, group_graphs(subgraphs, options));
  if (options.limit > 0) groups = order_of_choice(std::move(groups));
  PASSNET_TRY_VOID(hold_to_rules(out, subgraphs, options));
  remove_leftovers(out);
  PASSNET_TRY(LineFile journal, LineFile::open(out / "samples.jsonl", true));
  const Reports earlier = run::last_lines<SampleReport>(journal.kept(), &SampleReport::hash);
  place(groups, earlier, out);
  std::erase_if(groups, [&](const Group& group) { return !options.shard.holds(group.hash); });
  const run::JobOptions job{options.jobs, options.interrupted};
  run::SlotWorkers workers(job);
  std::vector<SampleReport> reports;
  std::atomic<size_t> kept = 0;
  const auto has_enough = [&] { return options.limit > 0 && kept == options.limit; };
  const auto is_wanted = [&](const SampleReport& report) {
    const bool is_whole = report.graphs >= options.min_shapes * options.dtypes.size();
    return !has_enough() && (options.limit == 0 || is_whole);
  };
  run::JobSteps<Group, SampleReport, SampleReport> steps;
  steps.find = [&](const Group& group) { return still_valid(earlier, group, out); };
  steps.work = [&](const Group& group, size_t slot) -> Result<SampleReport> {
    PASSNET_TRY(run::Worker* const worker, workers.at(slot));
    return write_sample(group, out, options, *worker);
  };
  steps.keep = [&](SampleReport& report) {
    if (is_wanted(report)) return &report;
    std::error_code ignored;
    fs::remove_all(out / report.path, ignored);
    return static_cast<SampleReport*>(nullptr);
  };
  steps.finished = [&](const SampleReport& report) {
    if (!is_wanted(report)) return;  // what an earlier run made of it
    ++kept;
    finished(report);
    reports.push_back(report);
  };
  steps.enough = has_enough;
  const Result<void> done = run::run_job(std::span<const Group>(groups), journal, job, steps);
  PASSNET_TRY_VOID(done);
  return write_lists(out / "lists", out, listed(reports, options.limit > 0));
}

}  // namespace passnet::dataset
