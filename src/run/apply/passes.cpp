#include "run/apply/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/text/strings.h"
#include "fx/print.h"
#include "ir/ops/table.h"
#include "pass/plan/idle.h"
#include "rewrite/rewrite.h"
#include "run/apply/expand_calls.h"
#include "run/apply/overwrites.h"

namespace passnet::run {

namespace {

// A value as the plan sees it: a list or what is not known is None.
pass::SiteInput site_input(const ir::Value& value) {
  return std::visit(
      [](const auto& known) -> pass::SiteInput {
        if constexpr (std::is_convertible_v<decltype(known), pass::SiteInput>)
          return known;
        else
          return std::monostate{};
      },
      value.is);
}

// A pattern input as the plan sees it.
pass::SiteInput site_input(const ir::Graph& graph, const ir::Arg& arg, const Values& values) {
  switch (arg.kind) {
    case ir::ArgKind::Node: return site_input(values[arg.node]);
    case ir::ArgKind::Bool: return arg.boolean;
    case ir::ArgKind::Int: return arg.integer;
    case ir::ArgKind::Float: return arg.real;
    case ir::ArgKind::String:
    case ir::ArgKind::Device:
    case ir::ArgKind::Constant: return std::string(arg.string());
    case ir::ArgKind::DType: return arg.dtype;
    case ir::ArgKind::Tuple:
    case ir::ArgKind::List: {
      std::vector<int64_t> integers;
      std::vector<double> reals;
      for (const ir::Arg& element : graph.elements(arg)) {
        if (element.kind == ir::ArgKind::Int) integers.push_back(element.integer);
        if (element.kind == ir::ArgKind::Int) reals.push_back(double(element.integer));
        if (element.kind == ir::ArgKind::Float) reals.push_back(element.real);
      }
      if (integers.size() == arg.count) return integers;
      if (reals.size() == arg.count) return reals;
      return std::monostate{};
    }
    default: return std::monostate{};
  }
}

// What is kept of a replaced site, to check at the end that its plan saw the shapes that really come.
struct Lowered {
  std::vector<pass::SiteInput> inputs;
  std::vector<std::string> constants;  // as Bound has them
  std::vector<uint32_t> tensor_inputs;
};

Bound bound_of(const Lowered& site) {
  Bound bound{site.constants, {}, site.tensor_inputs};
  for (const pass::SiteInput& input : site.inputs) {
    const auto* const type = std::get_if<ir::TensorType>(&input);
    bound.types.push_back(type != nullptr ? std::optional(*type) : std::nullopt);
  }
  return bound;
}

// The notes of refused sites and of the nearest miss, as one text.
std::string diagnosis_of(const rewrite::MatchReport& report) {
  std::vector<std::string> parts;
  for (const rewrite::NearestMiss& refused : report.refused) parts.push_back(rewrite::to_string(refused));
  if (report.miss) parts.push_back(rewrite::to_string(*report.miss));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "\n") + part;
  return text;
}

class PassApplication {
 public:
  PassApplication(const ir::Graph& graph, const std::vector<pass::Pass>& passes, const TraceFn& trace,
                  const rewrite::MatchOptions& options, const pass::PlanOptions& plans, GraphBudgets& budgets)
      : original_(graph),
        passes_(passes),
        trace_(trace),
        options_(options),
        plans_(plans),
        budgets_(budgets),
        graph_(graph) {
    plans_.steps = &budgets.planning;
  }

  Result<Rewritten> run() {
    PASSNET_TRY_VOID(trace());
    for (size_t index = 0; index < passes_.size(); ++index) PASSNET_TRY_VOID(apply_one(index));
    PASSNET_TRY_VOID(refresh_stale_lists());
    PASSNET_TRY_VOID(check_calls());
    result_.graph = std::move(expanded_.graph);
    result_.lists = std::move(expanded_.lists);
    for (const size_t site : expanded_.site_of_list) {
      result_.pass_of_list.push_back(pass_of_site_[site]);
      result_.bound.push_back(bound_of(lowered_[site]));
    }
    PASSNET_TRY_VOID(note_overwrites(original_, result_));
    note_sites();
    return std::move(result_);
  }

 private:
  // Values of graph_, as one call of what it stands for makes them.
  Result<void> trace() {
    expanded_ = expand_calls(graph_, sites_);
    const auto asked = Budget::Clock::now();
    PASSNET_TRY(traced_, trace_(expanded_.graph, expanded_.lists));
    // The worker's requests have limits of their own.
    const auto took = Budget::Clock::now() - asked;
    budgets_.matching.postpone(took);
    budgets_.planning.postpone(took);
    values_ = values_before(expanded_, traced_);
    return {};
  }

  // What the record says of the plans: their calls of PyTorch, by place, and what does no work.
  void note_sites() {
    for (size_t i = 0; i < sites_.size(); ++i) {
      record::PassOutcome& outcome = result_.outcomes[pass_of_site_[i]];
      for (const pass::LibraryCall& call : sites_[i].calls) add_call(outcome, call);
      if (!is_replay(sites_[i])) continue;
      ++outcome.replays;
      add_once("the plan launches no kernel of its own: PyTorch computes all of it", outcome);
    }
    for (size_t i = 0; i < result_.lists.size(); ++i) {
      const PlannedSite& site = sites_[expanded_.site_of_list[i]];
      record::PassOutcome& outcome = result_.outcomes[result_.pass_of_list[i]];
      // Of a plan that calls PyTorch a list may have nothing but memory to hand on.
      if (!site.calls.empty() && result_.lists[i].launches.empty()) continue;
      for (std::string& part : pass::idle_parts(result_.lists[i])) add_once(std::move(part), outcome);
    }
  }

  // Whether PyTorch computes all that a site gives.
  static bool is_replay(const PlannedSite& site) {
    const auto is_ours = [](const pass::Launch& launch) { return launch.origin == pass::KernelOrigin::Builtin; };
    return !site.calls.empty() && std::ranges::all_of(site.list.launches, is_ours);
  }

  void add_once(std::string part, record::PassOutcome& outcome) {
    if (noted_.emplace(&outcome, part).second) outcome.idle.push_back(std::move(part));
  }

  static void add_call(record::PassOutcome& outcome, const pass::LibraryCall& call) {
    const auto line = static_cast<int>(call.at.line);
    const auto same = [&](const record::LibraryCall& known) { return known.name == call.name && known.line == line; };
    const auto known = std::ranges::find_if(outcome.library_calls, same);
    if (known == outcome.library_calls.end())
      outcome.library_calls.push_back({call.name, line, 1});
    else
      ++known->count;
  }

  // A plan went on with the types that its calls gave on zeros; those of the site must be the same.
  Result<void> check_calls() const {
    for (const Expanded::Call& at : expanded_.calls) {
      const PlannedSite& site = sites_[at.site];
      const pass::LibraryCall& call = site.calls[at.call];
      const ir::Value& found = traced_.at(at.node);
      std::vector<ir::Value> results{found};
      if (const auto* several = std::get_if<ir::Value::List>(&found.is)) results = *several;
      bool same = results.size() == call.results.size();
      for (size_t i = 0; same && i < results.size(); ++i)
        same = results[i].tensor() != nullptr && *results[i].tensor() == site.list.buffers[call.results[i]].type;
      if (!same)
        return bad_pass(fmt::format("{} gives {} on the graph's values, and other sizes or strides on zeros",
                                    passnet::quoted(call.name), ir::type_text(found)),
                        call.at)
            .with_hint("what a plan calls must give the same shape, dtype and strides whatever the data is");
    }
    return {};
  }

  // The one place where a plan is evaluated: at first, and again when its inputs' strides have changed.
  Result<std::variant<pass::PlanResult, pass::Declined>> lower_site(const pass::Pass& pass,
                                                                    const std::vector<pass::SiteInput>& inputs,
                                                                    size_t output_count) const {
    return pass::evaluate_plan(pass.plan, pass.name, inputs, output_count, plans_);
  }

  Result<void> apply_one(size_t index) {
    const pass::Pass& pass = passes_[index];
    record::PassOutcome& outcome = result_.outcomes.emplace_back();
    outcome.pass = pass.name;
    if (!prepared_) prepared_.emplace(graph_, options_);
    PASSNET_TRY(rewrite::MatchReport report, rewrite::find_matches(pass.pattern, *prepared_, budgets_.matching));
    outcome.diagnosis = diagnosis_of(report);
    std::vector<rewrite::Site> sites;
    for (const rewrite::Match& match : report.matches) {
      Lowered lowered;
      for (const ir::Arg& input : match.inputs) {
        lowered.inputs.push_back(site_input(graph_, input, values_));
        lowered.constants.push_back(input.kind == ir::ArgKind::Node ? "" : fx::print_arg(graph_, input));
      }
      PASSNET_TRY(auto evaluated, lower_site(pass, lowered.inputs, match.outputs.size()));
      if (std::holds_alternative<pass::Declined>(evaluated)) {
        ++outcome.declined;
        continue;
      }
      auto& planned = std::get<pass::PlanResult>(evaluated);
      rewrite::Site site;
      site.match = match;
      site.launch_list = int64_t(sites_.size());
      for (uint32_t k : planned.tensor_inputs) {
        PASSNET_CHECK(match.inputs[k].kind == ir::ArgKind::Node, "a tensor input of a site is a node");
        site.inputs.push_back(match.inputs[k].node);
      }
      lowered.tensor_inputs = planned.tensor_inputs;
      sites.push_back(std::move(site));
      sites_.push_back({std::move(planned.list), std::move(planned.calls)});
      pass_of_site_.push_back(index);
      lowered_.push_back(std::move(lowered));
    }
    outcome.matches = int(sites.size());
    if (sites.empty()) return {};
    prepared_.reset();
    graph_ = rewrite::apply(graph_, sites);
    return trace();
  }

  // A later pass may have changed the strides of what an earlier site reads: its plan is evaluated again on what comes
  // now. One round is enough unless that changes its outputs' strides in turn, so it is repeated a few times.
  Result<void> refresh_stale_lists() {
    for (int round = 0; round < 4; ++round) {
      bool stale = false;
      for (const ir::Node& node : graph_.nodes()) {
        if (node.target != ir::kFusedTarget) continue;
        const auto args = graph_.args(node);
        const auto site = static_cast<size_t>(args[0].integer);
        Lowered& lowered = lowered_[site];
        bool changed = false;
        for (size_t i = 0; i < lowered.tensor_inputs.size(); ++i) {
          pass::SiteInput& before = lowered.inputs[lowered.tensor_inputs[i]];
          pass::SiteInput now = site_input(values_[args[i + 1].node]);
          if (before != now) {
            before = std::move(now);
            changed = true;
          }
        }
        if (!changed) continue;
        stale = true;
        const pass::Pass& pass = passes_[pass_of_site_[site]];
        PASSNET_TRY(auto evaluated, lower_site(pass, lowered.inputs, sites_[site].list.outputs.size()));
        if (std::holds_alternative<pass::Declined>(evaluated)) {
          return bad_pass(
                     fmt::format("pass '{}' accepted a site and declines it after later passes changed the strides "
                                 "of its inputs",
                                 pass.name),
                     std::get<pass::Declined>(evaluated).at)
              .with_hint("put this pass after the others in sorted_output_pass_rule_names.json");
        }
        auto& planned = std::get<pass::PlanResult>(evaluated);
        sites_[site] = {std::move(planned.list), std::move(planned.calls)};
      }
      if (!stale) return {};
      PASSNET_TRY_VOID(trace());
    }
    return unsupported("the passes keep changing the strides of each other's inputs");
  }

  const ir::Graph& original_;
  const std::vector<pass::Pass>& passes_;
  const TraceFn& trace_;
  const rewrite::MatchOptions& options_;
  pass::PlanOptions plans_;
  GraphBudgets& budgets_;
  ir::Graph graph_;  // its fused nodes name sites
  std::vector<PlannedSite> sites_;
  std::vector<size_t> pass_of_site_;
  std::vector<Lowered> lowered_;                                        // by site
  std::optional<rewrite::PreparedGraph> prepared_;                      // of graph_; none while that has just changed
  Expanded expanded_;                                                   // of graph_, as it was traced last
  Values traced_;                                                       // of it
  Values values_;                                                       // of graph_
  std::set<std::pair<const record::PassOutcome*, std::string>> noted_;  // parts that are idle
  Rewritten result_;
};

}  // namespace

int Rewritten::sites() const {
  int count = 0;
  for (const record::PassOutcome& outcome : outcomes) count += outcome.matches;
  return count;
}

Result<Rewritten> apply_passes(const ir::Graph& graph, const std::vector<pass::Pass>& passes, const TraceFn& trace,
                               const rewrite::MatchOptions& options, const pass::PlanOptions& plans,
                               GraphBudgets& budgets) {
  return PassApplication(graph, passes, trace, options, plans, budgets).run();
}

}  // namespace passnet::run
