#include "run/evaluate/judge_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "analysis/at_float64.h"
#include "analysis/shape_inputs.h"
#include "base/log.h"
#include "graphdir/inputs/replay.h"
#include "record/input_kinds.h"

namespace passnet::run {

namespace {

constexpr const char* kFloat64Id = "float64";

/// How much of a budget is used: above 1 it is exceeded.
double strain(const record::ErrorBudget& budget) {
  const auto share = [](double found, double allowed) {
    if (found <= allowed) return allowed > 0 ? found / allowed : 0;
    return std::max(found / std::max(allowed, std::numeric_limits<double>::min()), 1 + 1e-9);
  };
  return std::max({share(budget.found.norm, budget.allowed.norm), share(budget.found.row, budget.allowed.row),
                   share(budget.found.ulp, budget.allowed.ulp),
                   share(static_cast<double>(budget.found.zeros), static_cast<double>(budget.allowed.zeros)),
                   budget.found.misplaced > budget.allowed.misplaced ? 2.0 : 0.0});
}

class Judging {
 public:
  Judging(const ComparedGraph& compared, uint64_t seed, std::chrono::milliseconds timeout, record::RunRecord& record)
      : sides_(compared), seed_(seed), timeout_(timeout), record_(record) {}

  Result<void> on_recorded_values() { return on_recorded_and({}); }

  Result<void> on_all_kinds() {
    PASSNET_TRY_VOID(on_recorded_and(record::kOtherInputKinds));
    // On one set of values alone it is not known what would pass.
    if (right_ && record_.input_kinds.size() > 1) record_.null_models = std::move(null_models_);
    PASSNET_TRY_VOID(restore());
    return right_ ? find_fixed_inputs() : Result<void>();
  }

 private:
  Result<void> on_recorded_and(std::span<const char* const> others) {
    load_float64();
    PASSNET_TRY_VOID(judge(record::kRecordedKind, sides_.found));
    const bool takes_numbers_alone = analysis::converts_to_integers(sides_.graph);
    for (const std::string_view input_kind : others) {
      const bool has_others = input_kind == record::kNanKind || input_kind == record::kInfiniteKind;
      if (right_ && !(has_others && takes_numbers_alone)) PASSNET_TRY_VOID(judge_on(std::string(input_kind)));
    }
    forget_graph(sides_.reference, kFloat64Id, timeout_);
    return {};
  }

  void load_float64() {
    const Result<ir::Graph> wide = analysis::at_float64(sides_.graph.graph);
    if (!wide) {
      record_.no_float64 = wide.error().message;
      return;
    }
    const auto loaded = load_graph(sides_.reference, kFloat64Id, *wide, {}, {}, timeout_);
    if (loaded)
      float64_ = kFloat64Id;
    else
      record_.no_float64 = loaded.error().message;
  }

  /// One call of both sides on other values, unless the reference cannot take them.
  Result<void> judge_on(const std::string& input_kind) {
    std::optional<Bundle> drawn;
    Result<void> done = take_kind(input_kind, drawn, sides_.keeps_kinds);
    if (!done && sides_.reference.alive()) done = take_kind_with_fewer(input_kind, drawn, done.error());
    if (!done) {
      if (!sides_.reference.alive()) return on_fewer_anew(done.error());
      log::debug(fmt::format("{}: not compared on '{}' values: {}", record_.graph, input_kind, done.error().message));
      return {};
    }
    record_.stage = record::Stage::Run;
    PASSNET_TRY_VOID(drawn ? set_inputs(sides_.candidate, sides_.id, *drawn, timeout_, true)
                           : draw_inputs(sides_.candidate, sides_.id, sides_.graph, seed_, timeout_, input_kind));
    const Result<Outputs> found = run_for_rows(sides_.candidate, sides_.id, timeout_);
    if (!found && found.error().failure != kOtherShapes) return found.error();
    record_.stage = record::Stage::Compare;
    // Where shapes of the graph depend on its data it may be another graph on these values.
    return found ? judge(input_kind, *found) : Result<void>();
  }

  /// Tries the input kind with recorded contents where these may mean something: literal integers and those without bounds, then
  /// literal and single numbers too. refused: why the reference does not run on others; it is returned where this is of no
  /// help.
  Result<void> take_kind_with_fewer(const std::string& input_kind, std::optional<Bundle>& drawn, Error refused) {
    const auto weights = sides_.graph.weights, inputs = sides_.graph.inputs;
    for (const bool integers_alone : {true, false}) {
      if (!keep_contents(integers_alone)) continue;
      Result<void> done = take_kind(input_kind, drawn, false);
      if (done || !sides_.reference.alive()) return done;
    }
    sides_.graph.weights = weights;
    sides_.graph.inputs = inputs;
    return refused;
  }

  /// Asks for the graph to be judged anew, in a fresh reference and on recorded integers, where drawn ones may have ended
  /// this one: an index out of range stops a GPU for good, where a CPU throws.
  Error on_fewer_anew(Error lost) {
    lost.retry = keep_contents(true) || lost.retry;
    return lost;
  }

  /// Returns: whether there are any that were drawn so far.
  bool keep_contents(bool integers_alone) {
    bool any = false;
    for (auto* records : {&sides_.graph.weights, &sides_.graph.inputs}) {
      for (graphdir::TensorMeta& record : *records) {
        const bool has_meaning = ir::is_integral(record.dtype)
                                     ? !graphdir::is_ranged(record)
                                     : !integers_alone && (record.int_data || record.float_data || record.numel() == 1);
        if (record.redraw != graphdir::Redraw::Any || !has_meaning) continue;
        record.redraw = graphdir::Redraw::None;
        any = true;
      }
    }
    return any;
  }

  /// The reference runs on values of an input kind. drawn: these, where the candidate gets them from there.
  Result<void> take_kind(const std::string& input_kind, std::optional<Bundle>& drawn, bool keep) {
    if (sides_.each_draws) {
      PASSNET_TRY_VOID(draw_inputs(sides_.reference, sides_.id, sides_.graph, seed_, timeout_, input_kind, keep));
    } else {
      PASSNET_TRY(drawn, replay_inputs(sides_.reference, sides_.id, sides_.graph, seed_, timeout_, input_kind, keep));
    }
    PASSNET_TRY_VOID(run_alone(sides_.reference, sides_.id, false, timeout_, !keep));
    return {};
  }

  Result<void> judge(const std::string& input_kind, const Outputs& found) {
    PASSNET_TRY(Judged judged, judge_outputs(sides_.reference, sides_.id, float64_, found, input_kind, timeout_));
    if (record_.no_float64.empty()) record_.no_float64 = judged.no_float64;
    for (size_t i = 0; i < judged.outputs.size(); ++i) note(i, judged.outputs[i], input_kind);
    null_models_ = std::move(judged.null_models);
    record_.input_kinds.push_back(input_kind);
    return {};
  }

  /// Finds the inputs that no input kind changes and that the outputs depend on.
  Result<void> find_fixed_inputs() {
    if (record_.input_kinds.size() < 2) {
      record_.fixed_inputs = {record::kEveryInput};
      return {};
    }
    for (const auto* records : {&sides_.graph.inputs, &sides_.graph.weights}) {
      for (const graphdir::TensorMeta& record : *records) {
        if (record.redraw != graphdir::Redraw::None) continue;
        PASSNET_TRY(const bool depends, depends_on(sides_.reference, sides_.id, record.name, timeout_));
        if (depends) record_.fixed_inputs.push_back(record.name);
      }
    }
    return {};
  }

  void note(size_t index, const protocol::Judge::Output& judged, const std::string& input_kind) {
    record::OutputCheck* check = nullptr;
    if (index < record_.outputs.size()) {
      check = &record_.outputs[index];
    } else {
      const std::string_view name = std::string_view(judged.name).substr(std::string_view("input ").size());
      const auto input = std::ranges::find(record_.inputs, name, &record::InputCheck::name);
      if (input == record_.inputs.end()) {
        record_.inputs.push_back({std::string(name), {}});
        check = &record_.inputs.back().check;
      } else {
        check = &input->check;
      }
    }
    std::optional<record::ErrorBudget> budget = judged.budget;
    if (judged.differs) {
      budget = record::ErrorBudget{input_kind, {}, {}, {}};
      budget->found.misplaced = 1;
    }
    if (!budget) return;
    right_ = right_ && budget->kept();
    if (!check->budget || strain(*budget) > strain(*check->budget)) check->budget = std::move(budget);
  }

  Result<void> restore() {
    PASSNET_TRY_VOID(restore_inputs(sides_.reference, sides_.id, timeout_));
    PASSNET_TRY_VOID(run_alone(sides_.reference, sides_.id, false, timeout_, !sides_.keeps_kinds));
    PASSNET_TRY_VOID(restore_inputs(sides_.candidate, sides_.id, timeout_));
    PASSNET_TRY_VOID(run_alone(sides_.candidate, sides_.id, true, timeout_));
    return {};
  }

  const ComparedGraph& sides_;
  uint64_t seed_;
  std::chrono::milliseconds timeout_;
  record::RunRecord& record_;
  std::string float64_;
  std::vector<std::string> null_models_;
  bool right_ = true;
};

}  // namespace

Result<void> judge_values(const ComparedGraph& compared, uint64_t seed, std::chrono::milliseconds timeout,
                          record::RunRecord& record) {
  return Judging(compared, seed, timeout, record).on_all_kinds();
}

Result<void> judge_recorded_values(const ComparedGraph& compared, std::chrono::milliseconds timeout,
                                   record::RunRecord& record) {
  return Judging(compared, 0, timeout, record).on_recorded_values();
}

}  // namespace passnet::run
