#include "runtime/session/judge.h"

#include <ATen/Context.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/DefaultDtype.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/memory.h"
#include "base/text/strings.h"
#include "record/input_kinds.h"
#include "runtime/session/process.h"
#include "runtime/tensor/compare.h"
#include "runtime/tensor/errors.h"
#include "runtime/tensor/placement.h"
#include "runtime/tensor/rows.h"

namespace passnet::runtime {

namespace {

/// Where eager is farther than this from float64 the two do not compute the same: random numbers, a rounding that decides
/// which way to go.
constexpr double kSameComputation = 1.0 / 16;
/// Up to this it is known all the same what eager loses: a norm of rows whose values hardly differ in a short type.
constexpr double kKnownLoss = 1.0 / 4;

/// Factories without an element type make float64 meanwhile.
class Float64ByDefault {
 public:
  Float64ByDefault() : before_(c10::get_default_dtype()) { c10::set_default_dtype(caffe2::TypeMeta::Make<double>()); }
  ~Float64ByDefault() { c10::set_default_dtype(before_); }
  Float64ByDefault(const Float64ByDefault&) = delete;
  Float64ByDefault& operator=(const Float64ByDefault&) = delete;

 private:
  caffe2::TypeMeta before_;
};

/// Computes attention from all of its scores meanwhile. PyTorch's fused kernel for a CPU gives 0 for a row of NaN that has
/// fewer scores than a vector has elements, as for a row that is masked out.
class UnfusedAttention {
 public:
  UnfusedAttention() : before_(at::globalContext().userEnabledFlashSDP()) { at::globalContext().setSDPUseFlash(false); }
  ~UnfusedAttention() { at::globalContext().setSDPUseFlash(before_); }
  UnfusedAttention(const UnfusedAttention&) = delete;
  UnfusedAttention& operator=(const UnfusedAttention&) = delete;

 private:
  bool before_;
};

/// Bytes of all inputs at float64 up to which attention is not fused: the scores of more may not fit into memory.
constexpr double kMostUnfused = 0x1p24;

bool has_budget(const at::Tensor& tensor) { return tensor.defined() && tensor.is_floating_point(); }

at::Tensor at_float64(const at::Tensor& tensor) {
  if (tensor.is_complex()) return tensor.to(at::kComplexDouble);
  return tensor.is_floating_point() ? tensor.to(at::kDouble) : tensor.clone();
}

/// What the graph gives at float64, with the inputs that it changes.
Result<CallResult> run_at_float64(LoadedGraph& graph, LoadedGraph& float64) {
  double bytes = 0;
  for (const at::Tensor& input : graph.pristine()) bytes += 8.0 * static_cast<double>(input.numel());
  if (graph_device().is_cpu()) PASSNET_TRY_VOID(require_memory("the graph at float64", 3 * bytes));
  std::vector<at::Tensor> inputs;
  for (const at::Tensor& input : graph.pristine()) inputs.push_back(at_float64(input));
  CallResult result;
  try {
    const Float64ByDefault wide;
    std::optional<UnfusedAttention> unfused;
    if (bytes <= kMostUnfused) unfused.emplace();
    seed_generators(graph.call_seed());
    float64.use_inputs(inputs);
    PASSNET_TRY_VOID(float64.plan().run());
    graph.device().synchronize();
    result.outputs = call_outputs(float64.plan().outputs());
    for (const auto& [name, tensor] : graph.last_run()->changed) {
      const auto index = std::ranges::find(float64.plan().input_names(), name) - float64.plan().input_names().begin();
      result.inputs.emplace(name, CallOutput{float64.plan().input(static_cast<size_t>(index)), {}});
    }
    float64.plan().release();
  } catch (const c10::Error& error) {
    float64.plan().release();
    return unsupported(first_line(error.what_without_backtrace()));
  }
  return result;
}

/// One value that was promised, with what is known of it.
struct Promised {
  std::string name;            // "output 0", "input x"
  CallOutput expected;         // by eager; of a tensor the rows that are judged, on the CPU
  CallOutput found;            // by the candidate; the same rows, if it has the form
  std::optional<Truth> truth;  // of floating types
  std::optional<Truth> exact;  // where eager stands for the truth, and what it loses is known
  Rows rows;
  std::optional<std::pair<at::Tensor, at::Tensor>>
      whole;                   // by eager and by the candidate, where `rows` is not all of it
  std::vector<int64_t> sizes;  // of all of the tensor, as the graph has it
  bool is_complex = false;     // so `expected` and `found` are its real parts
};

class Judging {
 public:
  Judging(LoadedGraph& graph, uint64_t rows_seed, const std::string& input_kind)
      : graph_(graph), rows_seed_(rows_seed), input_kind_(input_kind) {}

  void collect(const CallResult& found, const CallResult* exact) {
    const std::vector<CallOutput>& expected = graph_.expected();
    for (size_t i = 0; i < expected.size(); ++i) {
      add(fmt::format("output {}", i), expected[i], i < found.outputs.size() ? found.outputs[i] : CallOutput{},
          exact != nullptr && i < exact->outputs.size() ? exact->outputs[i].tensor : at::Tensor());
    }
    for (const auto& [name, mine, theirs] : graph_.changed_on_either_side(found.inputs)) {
      const bool is_known = exact != nullptr && exact->inputs.contains(name);
      add("input " + name, mine, theirs, is_known ? exact->inputs.at(name).tensor : at::Tensor());
    }
  }

  protocol::Judge::Reply judge() {
    protocol::Judge::Reply told;
    told.no_float64 = no_float64_;
    for (const Promised& one : promised_) told.outputs.push_back(judge(one));
    told.null_models = null_models();
    keep(told);
    return told;
  }

  std::string no_float64_;

 private:
  void add(std::string name, const CallOutput& expected, const CallOutput& found, const at::Tensor& exact) {
    SameRows same = real_parts(same_rows(expected, found, rows_seed_, kMostJudged));
    Promised one{
        std::move(name), std::move(same.expected), std::move(same.found), {}, {}, std::move(same.rows), {}, {}};
    if (expected.tensor.defined()) {
      one.sizes = expected.sizes().vec();
      one.is_complex = expected.tensor.is_complex();
    }
    const at::Tensor& answer = found.tensor;
    if (!one.rows.is_all() && found.rows_of.empty() && answer.defined() && answer.sizes() == expected.tensor.sizes() &&
        answer.scalar_type() == expected.tensor.scalar_type())
      one.whole.emplace(as_real(expected.tensor), as_real(answer));
    if (has_budget(one.expected.tensor)) {
      if (exact.defined() && exact.sizes() == expected.tensor.sizes()) {
        one.truth.emplace(as_real(one.rows.of(exact)), one.expected.tensor, any_for_nan());
        const double loss = one.truth->eager().norm;
        if (!(loss <= kSameComputation)) {
          if (!on_recorded() && loss <= kKnownLoss) one.exact = std::move(one.truth);
          one.truth.reset();
        }
      }
      if (!one.truth) {
        if (exact.defined() && no_float64_.empty()) no_float64_ = fmt::format("{} is another at float64", one.name);
        // Eager's own rounding is not known then, and the answer's comes on top of it.
        one.truth.emplace(one.expected.tensor, one.expected.tensor, any_for_nan());
      }
    }
    promised_.push_back(std::move(one));
  }

  protocol::Judge::Output judge(const Promised& one) const {
    protocol::Judge::Output judged{one.name, {}, false};
    const at::Tensor &expected = one.expected.tensor, &found = one.found.tensor;
    if (!one.truth) {
      judged.differs = !check_output(one.expected, one.found).equal;
      return judged;
    }
    const bool has_form = found.defined() && found.scalar_type() == expected.scalar_type() &&
                          one.found.sizes() == one.expected.sizes() && found.sizes() == expected.sizes();
    if (!has_form) {
      judged.differs = true;
      return judged;
    }
    judged.budget = budget_of(one, found);
    if (one.whole && judged.budget->kept()) add_rest(*one.whole, *judged.budget);
    return judged;
  }

  /// Notes what is wrong outside of the rows that are judged, as in a remainder that was forgotten: the truth is not known there,
  /// so an answer and eager's may be off by as much each. of: all of both.
  static void add_rest(const std::pair<at::Tensor, at::Tensor>& of, record::ErrorBudget& budget) {
    record::Errors allowed = budget.allowed, apart;
    allowed.norm *= 2;
    allowed.row *= 2;
    if (within(of.first.cpu(), of.second.cpu(), allowed, &apart) || is_few_steps_off(of.first, of.second)) return;
    budget.found.norm = std::max(budget.found.norm, apart.norm);
    budget.found.row = std::max(budget.found.row, apart.row);
    if (budget.eager.misplaced == 0) budget.found.misplaced += apart.misplaced;
  }

  /// An answer is right that is near eager's, as near to the truth, or eager's but for few roundings.
  record::ErrorBudget budget_of(const Promised& one, const at::Tensor& found) const {
    record::ErrorBudget budget{input_kind_, one.truth->eager(), one.truth->allowed(on_recorded()),
                               one.truth->of(found)};
    if (!budget.kept() && is_few_steps_off(one.expected.tensor, found)) budget.found = budget.eager;
    if (budget.kept() || !one.exact) return budget;
    const record::ErrorBudget exact = exact_budget_of(*one.exact, found);
    return exact.kept() ? exact : budget;
  }
  record::ErrorBudget exact_budget_of(const Truth& exact, const at::Tensor& found) const {
    return {input_kind_, exact.eager(), exact.no_more_than_eager(), exact.of(found)};
  }

  /// Whether this would pass in place of an answer.
  bool passes(const Promised& one, const at::Tensor& answer) const {
    const at::Tensor& expected = one.expected.tensor;
    if (!answer.defined() || answer.sizes() != expected.sizes() || answer.scalar_type() != expected.scalar_type())
      return false;
    if (!one.truth) return check_output(one.expected, {answer, {}}).equal;
    return one.truth->allows(answer, on_recorded()) || (one.exact && exact_budget_of(*one.exact, answer).kept());
  }

  using Model = std::function<bool(size_t index, const Promised&)>;
  bool all_pass(const Model& model) const {
    bool any = false;
    for (size_t i = 0; i < promised_.size(); ++i) {
      if (!promised_[i].expected.tensor.defined() || promised_[i].expected.tensor.numel() == 0) continue;
      any = true;
      if (!model(i, promised_[i])) return false;
    }
    return any;
  }

  bool an_input_passes(const Promised& one) const {
    return std::ranges::any_of(graph_.pristine(), [&](const at::Tensor& input) {
      if (input.numel() != c10::multiply_integers(one.sizes)) return false;
      const at::Tensor copy = one.rows.of(input.reshape(one.sizes));
      return copy.is_complex() == one.is_complex &&
             passes(one, as_real(copy).cpu().to(one.expected.tensor.scalar_type()));
    });
  }

  bool on_recorded() const { return input_kind_ == record::kRecordedKind; }
  /// NaN out of infinities depends on the formula (inf - inf, 0 * inf), and equally good formulas differ.
  bool any_for_nan() const { return input_kind_ == record::kInfiniteKind; }

  /// The mean of one element takes as much work as the element.
  bool mean_takes_no_work() const {
    return std::ranges::any_of(promised_, [](const Promised& one) { return c10::multiply_integers(one.sizes) > 1; });
  }

  std::vector<std::string> null_models() const {
    const std::vector<CallOutput>& earlier = graph_.earlier;
    const auto mean = [](const at::Tensor& values) {
      return values.is_floating_point() ? at::full_like(values, values.to(at::kDouble).mean().item<double>())
                                        : at::zeros_like(values);
    };
    const auto coarser = [](const at::Tensor& values) {
      const bool is_short = values.scalar_type() == at::kHalf || values.scalar_type() == at::kBFloat16;
      const at::ScalarType type = is_short                              ? at::kFloat8_e4m3fn
                                  : values.scalar_type() == at::kDouble ? at::kFloat
                                                                        : at::kHalf;
      return values.to(type).to(values.scalar_type());
    };
    const std::pair<const char*, Model> models[] = {
        {"zeros", [&](size_t, const Promised& one) { return passes(one, at::zeros_like(one.expected.tensor)); }},
        {"ones", [&](size_t, const Promised& one) { return passes(one, at::ones_like(one.expected.tensor)); }},
        {"mean",
         [&](size_t, const Promised& one) { return mean_takes_no_work() && passes(one, mean(one.expected.tensor)); }},
        {"copy of an input", [&](size_t, const Promised& one) { return an_input_passes(one); }},
        {"earlier outputs",
         [&](size_t i, const Promised& one) {
           if (on_recorded()) return true;  // there are none yet: the next input kind tells
           if (i >= earlier.size() || !earlier[i].tensor.defined() || earlier[i].tensor.sizes() != one.sizes)
             return false;
           return passes(one, as_real(one.rows.of(earlier[i].tensor)).cpu());
         }},
        {"lower precision",
         [&](size_t, const Promised& one) {
           // What a shorter type holds as well, as infinities and truth values, says nothing.
           if (!one.truth) return false;
           const at::Tensor short_values = coarser(one.expected.tensor);
           return !compare_tensors(one.expected.tensor, short_values).equal && passes(one, short_values);
         }},
    };
    std::vector<std::string> passing;
    for (const auto& [name, model] : models) {
      // An answer that takes no work would have to pass everywhere, as any other.
      const bool alive = on_recorded() || std::ranges::find(graph_.null_models, name) != graph_.null_models.end();
      if (alive && all_pass(model)) passing.emplace_back(name);
    }
    return passing;
  }

  void keep(const protocol::Judge::Reply& told) {
    graph_.null_models = told.null_models;
    graph_.earlier = graph_.expected();
    if (!on_recorded()) return;
    graph_.budgets.clear();
    for (const protocol::Judge::Output& output : told.outputs) {
      if (!output.budget) continue;
      // Timed calls are held against eager, whose own errors come on top of those that an answer may have.
      record::Errors& errors = graph_.budgets[output.name] = output.budget->allowed;
      errors.norm *= (kFactor + 1) / kFactor;
      errors.row *= 2 * (kFactor + 1) / kFactor;  // the largest of some is smaller than the largest of many
    }
  }

  LoadedGraph& graph_;
  uint64_t rows_seed_;
  std::string input_kind_;
  std::vector<Promised> promised_;
};

}  // namespace

Result<protocol::Judge::Reply> judge_call(LoadedGraph& graph, LoadedGraph* float64, const CallResult& found,
                                          uint64_t rows_seed, const std::string& input_kind) {
  Judging judging(graph, rows_seed, input_kind);
  const LoadedGraph::LastRun* const last = graph.last_run();
  if (last == nullptr) return bad_input("the graph was not run on its inputs").with_hint("send 'run' first");
  std::optional<CallResult> made;
  if (float64 != nullptr && !last->exact) {
    Result<CallResult> ran = run_at_float64(graph, *float64);
    if (ran)
      made = std::move(*ran);
    else
      judging.no_float64_ = ran.error().message;
  }
  const CallResult* const exact = last->exact ? &*last->exact : made ? &*made : nullptr;
  judging.collect(found, exact);
  if (made) graph.keep_exact(std::move(*made));
  return judging.judge();
}

}  // namespace passnet::runtime
