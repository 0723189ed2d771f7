#include "author/search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "author/forms/candidates.h"
#include "author/search/known.h"
#include "base/file/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "record/score/interval.h"
#include "record/stats.h"
#include "record/verdict.h"

namespace passnet::author {

namespace {

/// One schedule of one pass on the graphs that stand for the others.
struct Timed {
  bool measured = true;  // false: the budget was used up
  bool right = true;
  double ratio = 1;  // geometric mean
  std::map<std::string, std::pair<double, record::Interval>> by_graph;
};

Timed timed_of(const Records& records, const std::vector<std::string>& graphs) {
  Timed timed;
  double sum = 0;
  const std::vector<GraphGain> gains = gains_of(records);
  for (const std::string& graph : graphs) {
    const auto gain = std::ranges::find(gains, graph, &GraphGain::graph);
    const auto record = std::ranges::find(records, graph, &record::RunRecord::graph);
    if (gain == gains.end() || gain->gain == Gain::Wrong || gain->gain == Gain::NotMeasured || gain->ratio <= 0) {
      timed.right = false;
      timed.ratio = 0;
      return timed;
    }
    timed.by_graph[graph] = {gain->ratio, record::ratio_interval(record->reference, record->candidate)};
    sum += std::log(gain->ratio);
  }
  timed.ratio = graphs.empty() ? 1 : std::exp(sum / static_cast<double>(graphs.size()));
  return timed;
}

/// Faster beyond the noise in one graph, slower beyond it in none.
bool is_better(const Timed& one, const Timed& than) {
  if (!one.right || one.ratio <= than.ratio) return false;
  bool faster = false;
  for (const auto& [graph, measured] : one.by_graph) {
    const auto& [other, interval] = than.by_graph.at(graph);
    if (!measured.second.known() || measured.second.high < other) return false;
    faster = faster || measured.second.low > other;
  }
  return faster;
}

class Search {
 public:
  Search(const graphdir::Sample& sample, const JudgedForm& best, const WriteOptions& options, const Write& write,
         const Evaluate& evaluate, const Machine& machine, const IsSpent& is_spent)
      : sample_(sample),
        best_(best),
        options_(options),
        write_(write),
        evaluate_(evaluate),
        machine_(machine),
        is_spent_(is_spent) {}

  Result<SearchedSchedules> run() {
    for (size_t i = 0; i < best_.authored.passes.size(); ++i) {
      const Written& pass = best_.authored.passes[i];
      const PassVerdict& verdict = best_.judged.passes[i];
      if (!verdict.kept) continue;
      const std::vector<size_t> longest = longest_by_dtype(pass, verdict);
      if (longest.empty()) continue;
      const std::vector<Proposal> proposed = proposals(pass.shapes, longest.front(), machine_);
      if (!proposed.empty()) PASSNET_TRY_VOID(measure(pass, longest, proposed));
    }
    PASSNET_TRY_VOID(remove_directory(place().pass_dir));
    return std::move(found_);
  }

 private:
  const record::RunRecord* record_of(const std::string& graph) const {
    const auto found = std::ranges::find(best_.judged.records, graph, &record::RunRecord::graph);
    return found == best_.judged.records.end() ? nullptr : &*found;
  }

  /// Graphs of the pass, by number; the one that takes the longest first.
  std::vector<size_t> longest_by_dtype(const Written& pass, const PassVerdict& verdict) const {
    std::map<std::string, std::pair<double, size_t>> longest;
    for (size_t i = 0; i < pass.python.sites.size(); ++i) {
      const std::string& graph = pass.python.sites[i].first;
      const record::RunRecord* record = record_of(graph);
      if (record == nullptr || verdict.declined.contains(graph) || record->candidate.trials_us.empty() ||
          record->outputs.empty())
        continue;
      auto& known = longest[record->outputs[0].found_dtype];
      known = std::max(known, {record::summarize(record->candidate.trials_us).median, i});
    }
    std::vector<std::pair<double, size_t>> sorted;
    for (const auto& [dtype, one] : longest) sorted.push_back(one);
    std::ranges::sort(sorted, std::ranges::greater());
    std::vector<size_t> graphs;
    for (const auto& [us, graph] : sorted) graphs.push_back(graph);
    return graphs;
  }

  /// Kernels and dtypes as text; sizes count as one up to the next power of two.
  std::string structure_of(const Written& pass, const std::vector<size_t>& graphs) const {
    std::string text = machine_.on_gpu ? pass.cuda : pass.cpp;
    text = text.substr(text.find("#include"));  // what comes before names the pass
    for (const size_t graph : graphs) {
      text += record_of(pass.python.sites[graph].first)->outputs[0].found_dtype;
      for (const KernelShape& kernel : pass.shapes) {
        const KernelShape::Numbers& numbers = kernel.by_graph[graph];
        for (const int64_t number : {numbers.items, numbers.steps, numbers.length, numbers.bytes})
          text += fmt::format(" {}", std::bit_width(static_cast<uint64_t>(number)));
      }
      text += "\n";
    }
    return sha256_hex(text);
  }

  graphdir::Sample place() const {
    graphdir::Sample place = sample_;
    place.pass_dir = sample_.path / kSchedules;
    return place;
  }

  Result<Timed> time(const Written& pass, const std::vector<std::string>& graphs, const std::string& label) {
    if (is_spent_ && is_spent_()) return Timed{false, false, 0, {}};
    const graphdir::Sample small = graphdir::with_graphs(place(), graphs);
    PASSNET_TRY_VOID(remove_directory(small.pass_dir));
    PASSNET_TRY_VOID(write_candidates(small.pass_dir, Authored{{pass}, {}}));
    PASSNET_TRY(const std::optional<Records> records, evaluate_(small, is_spent_));
    if (!records) return Timed{false, false, 0, {}};
    Timed timed = timed_of(*records, graphs);
    found_.measured.push_back({pass.name, label, timed.ratio});
    return timed;
  }

  Result<void> measure(const Written& pass, const std::vector<size_t>& longest, const std::vector<Proposal>& proposed) {
    std::vector<std::string> graphs;
    for (const size_t graph : longest) graphs.push_back(pass.python.sites[graph].first);
    KnownSchedule known{record_of(graphs.front())->hardware, structure_of(pass, longest), {}};
    if (const std::optional<Schedule> kept = load_schedule(known.hardware, known.structure)) {
      if (*kept != Schedule()) found_.better[pass.name] = *kept;
      return {};
    }
    PASSNET_TRY(Timed best, time(pass, graphs, "default"));
    if (!best.right) return {};
    for (const Proposal& one : proposed) {
      WriteOptions options = options_;
      options.schedules[pass.name] = one.schedule;
      const Authored authored = write_(options);
      const auto other = std::ranges::find(authored.passes, pass.name, &Written::name);
      if (other == authored.passes.end()) continue;
      PASSNET_TRY(Timed timed, time(*other, graphs, one.label));
      if (!timed.measured) return {};  // what was not looked at is not known
      if (!is_better(timed, best)) continue;
      best = std::move(timed);
      known.schedule = one.schedule;
    }
    if (known.schedule != Schedule()) found_.better[pass.name] = known.schedule;
    if (const Result<void> stored = store_schedule(known); !stored) log::warn(to_string(stored.error()));
    return {};
  }

  const graphdir::Sample& sample_;
  const JudgedForm& best_;
  const WriteOptions& options_;
  const Write& write_;
  const Evaluate& evaluate_;
  const Machine& machine_;
  const IsSpent& is_spent_;
  SearchedSchedules found_;
};

}  // namespace

Result<SearchedSchedules> search_schedules(const graphdir::Sample& sample, const JudgedForm& best,
                                           const WriteOptions& options, const Write& write, const Evaluate& evaluate,
                                           const Machine& machine, const IsSpent& is_spent) {
  return Search(sample, best, options, write, evaluate, machine, is_spent).run();
}

}  // namespace passnet::author
