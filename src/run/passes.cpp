#include "run/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "rewrite/rewrite.h"
#include "run/overwrites.h"

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
  std::vector<uint32_t> tensor_inputs;
};

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
                  const rewrite::MatchOptions& options, const pass::PlanOptions& plans)
      : original_(graph), passes_(passes), trace_(trace), options_(options), plans_(plans) {
    result_.graph = graph;
  }

  Result<Rewritten> run() {
    PASSNET_TRY(values_, trace_(result_.graph, result_.lists));
    for (size_t index = 0; index < passes_.size(); ++index) PASSNET_TRY_VOID(apply_one(index));
    PASSNET_TRY_VOID(refresh_stale_lists());
    PASSNET_TRY_VOID(note_overwrites(original_, result_));
    return std::move(result_);
  }

 private:
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
    if (!prepared_) prepared_.emplace(result_.graph, options_);
    PASSNET_TRY(rewrite::MatchReport report, rewrite::find_matches(pass.pattern, *prepared_));
    outcome.diagnosis = diagnosis_of(report);
    std::vector<rewrite::Site> sites;
    for (const rewrite::Match& match : report.matches) {
      Lowered lowered;
      for (const ir::Arg& input : match.inputs) lowered.inputs.push_back(site_input(result_.graph, input, values_));
      PASSNET_TRY(auto evaluated, lower_site(pass, lowered.inputs, match.outputs.size()));
      if (std::holds_alternative<pass::Declined>(evaluated)) {
        ++outcome.declined;
        continue;
      }
      auto& planned = std::get<pass::PlanResult>(evaluated);
      rewrite::Site site;
      site.match = match;
      site.launch_list = int64_t(result_.lists.size());
      for (uint32_t k : planned.tensor_inputs) {
        PASSNET_CHECK(match.inputs[k].kind == ir::ArgKind::Node, "a tensor input of a site is a node");
        site.inputs.push_back(match.inputs[k].node);
      }
      lowered.tensor_inputs = planned.tensor_inputs;
      sites.push_back(std::move(site));
      result_.lists.push_back(std::move(planned.list));
      result_.pass_of_list.push_back(index);
      lowered_.push_back(std::move(lowered));
    }
    outcome.matches = int(sites.size());
    if (sites.empty()) return {};
    prepared_.reset();
    result_.graph = rewrite::apply(result_.graph, sites);
    PASSNET_TRY(values_, trace_(result_.graph, result_.lists));
    return {};
  }

  // A later pass may have changed the strides of what an earlier site reads: its plan is evaluated again on what comes
  // now. One round is enough unless that changes its outputs' strides in turn, so it is repeated a few times.
  Result<void> refresh_stale_lists() {
    for (int round = 0; round < 4; ++round) {
      bool stale = false;
      for (const ir::Node& node : result_.graph.nodes()) {
        if (node.target != rewrite::kFusedTarget) continue;
        const auto args = result_.graph.args(node);
        const auto list = static_cast<size_t>(args[0].integer);
        Lowered& lowered = lowered_[list];
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
        const pass::Pass& pass = passes_[result_.pass_of_list[list]];
        PASSNET_TRY(auto evaluated, lower_site(pass, lowered.inputs, result_.lists[list].outputs.size()));
        if (std::holds_alternative<pass::Declined>(evaluated)) {
          return bad_pass(
                     fmt::format("pass '{}' accepted a site and declines it after later passes changed the strides "
                                 "of its inputs",
                                 pass.name),
                     std::get<pass::Declined>(evaluated).at)
              .with_hint("put this pass after the others in sorted_output_pass_rule_names.json");
        }
        result_.lists[list] = std::move(std::get<pass::PlanResult>(evaluated).list);
      }
      if (!stale) return {};
      PASSNET_TRY(values_, trace_(result_.graph, result_.lists));
    }
    return unsupported("the passes keep changing the strides of each other's inputs");
  }

  const ir::Graph& original_;
  const std::vector<pass::Pass>& passes_;
  const TraceFn& trace_;
  const rewrite::MatchOptions& options_;
  const pass::PlanOptions plans_;
  Rewritten result_;
  std::optional<rewrite::PreparedGraph> prepared_;  // of result_.graph; none while that has just changed
  std::vector<Lowered> lowered_;                    // by launch list
  Values values_;
};

}  // namespace

int Rewritten::sites() const {
  int count = 0;
  for (const record::PassOutcome& outcome : outcomes) count += outcome.matches;
  return count;
}

Result<Rewritten> apply_passes(const ir::Graph& graph, const std::vector<pass::Pass>& passes, const TraceFn& trace,
                               const rewrite::MatchOptions& options, const pass::PlanOptions& plans) {
  return PassApplication(graph, passes, trace, options, plans).run();
}

}  // namespace passnet::run
