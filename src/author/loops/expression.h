// An element of a result as a tree of loads and operations on them, in which equal parts are one. It says nothing of
// loops but for reductions, which name the variables that they run over.
#pragma once

#include <bit>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "author/loops/formula.h"
#include "author/loops/index.h"

namespace passnet::author {

using TensorId = uint32_t;
/// An element type, the same in all graphs or that of an input, as SizeId is for sizes.
using ElementId = uint32_t;

/// The type that a value is computed in.
enum class Compute : uint8_t { Float, Double, Int, Bool };

/// The devices on which PyTorch rounds a value to an element's type.
enum class RoundsOn : uint8_t { Both, Gpu, Cpu };

enum class Fold : uint8_t { Sum, Product, Largest, Smallest, Any, All };

/// The order of adding that a sum over a row has on a GPU, where threads can have its elements as those of PyTorch's
/// own kernel do.
enum class SumOrder : uint8_t { Any, LayerNorm, GroupNorm, Softmax };

struct Expr {
  enum class Kind : uint8_t {
    Load,       // tensor, of element, at places
    Number,     // real() or integer
    Parameter,  // a constant that is an input of the pattern: text
    Place,      // an index as a number: places[0]
    Apply,      // formula of parts
    Convert,    // parts[0], in another compute
    Truncate,   // parts[0], a real number, as PyTorch converts it to the whole numbers of element
    Round,      // parts[0] as stored in element; whole numbers wrap
    Reduce,     // an element of tensor: fold of parts[0] over variables
    Running,    // an element of tensor: the sum of parts[0] up to places[0], which is a variable of its own in a kernel
    Guard,      // parts[1] where parts[0] holds, else parts[2]; parts[1] is not looked at elsewhere
    ByTarget,   // parts[0] on a CPU, parts[1] on a GPU
  };
  Kind kind = Kind::Number;
  Compute compute = Compute::Float;
  Fold fold = Fold::Sum;
  SumOrder order = SumOrder::Any;  // Reduce
  TensorId tensor = 0;
  ElementId element = 0;
  int64_t integer = 0;    // Number; of a Float or Double its bits, as NaN is equal to nothing
  std::string text = {};  // Parameter
  Formula formula = {};   // Apply
  std::vector<IndexId> places = {};
  std::vector<ExprId> parts = {};
  std::vector<VariableId> variables = {};
  RoundsOn rounds_on = RoundsOn::Both;  // Round: elsewhere it is parts[0] itself
  auto operator<=>(const Expr&) const = default;

  bool is_apply_of(const Formula& other) const { return kind == Kind::Apply && formula == other; }
  bool is_product() const;
  bool is_real() const { return compute == Compute::Float || compute == Compute::Double; }
  double real() const { return std::bit_cast<double>(integer); }
};

/// Formulas that targets have their own ways with: what is below 0 as 0, whether A lies in 0 … B - 1, whether it lies below B,
/// whether both hold, a division.
inline const Formula kRelu = formula::choose(formula::A < 0, 0, formula::A),
                     kInside = (formula::A >= 0) & (formula::A < formula::B), kBelow = formula::A < formula::B,
                     kBoth = formula::A & formula::B, kQuotient = formula::A / formula::B;

class ExprTable {
 public:
  explicit ExprTable(IndexTable& indices) : indices_(indices) {}

  /// element: of the tensor.
  ExprId load(TensorId tensor, std::vector<IndexId> places, ElementId element, Compute compute);
  ExprId number(double value, Compute compute = Compute::Float);
  ExprId integer(int64_t value, Compute compute = Compute::Int);
  ExprId parameter(std::string text, Compute compute);
  ExprId place(IndexId index);
  ExprId apply(const Formula& formula, std::vector<ExprId> parts, Compute compute = Compute::Float);
  /// Makes the condition 0 <= index < extent: an Apply of kInside.
  ExprId inside(IndexId index, SizeId extent);
  /// Makes the condition that both hold; none: `more` alone.
  ExprId both(std::optional<ExprId> condition, ExprId more);
  /// Makes the condition index < end: an Apply of kBelow.
  ExprId below(IndexId index, SizeId end);
  ExprId convert(ExprId part, Compute compute);
  /// part: a real number. element: of whole numbers.
  ExprId truncate(ExprId part, ElementId element);
  /// The part itself where its value is one of the element's in any case.
  ExprId round(ExprId part, ElementId element);
  /// Rounds a value that PyTorch rounds on one device alone.
  ExprId round_on(RoundsOn where, ExprId part, ElementId element);
  /// tensor: whose elements it gives.
  ExprId reduce(Fold fold, TensorId tensor, std::vector<VariableId> variables, ExprId part,
                SumOrder order = SumOrder::Any);
  /// tensor: whose elements it gives. part: the element of `place`.
  ExprId running(TensorId tensor, IndexId place, ExprId part);
  ExprId guard(ExprId condition, ExprId then, ExprId otherwise);
  /// Joins the two ways in which PyTorch computes the same.
  ExprId by_target(ExprId cpu, ExprId gpu);

  /// Returns the value on that target, without ByTarget in it.
  ExprId for_target(ExprId id, Target target);
  /// Says that its value is an element of that tensor, for people who read of it. The first tensor stays.
  void call_after(ExprId id, TensorId tensor);
  std::optional<TensorId> called_after(ExprId id) const;
  /// Returns: id, which is called after the same tensor as `other` from now on, if that is.
  ExprId called_like(ExprId other, ExprId id);
  /// The same with other places for variables; a reduction over all of `over` goes over `one` instead.
  struct Placed {
    std::map<VariableId, IndexId> places;
    std::set<VariableId> over;
    VariableId one = 0;
    std::map<ExprId, ExprId> known = {};  // what was placed before
  };
  ExprId placed(ExprId id, Placed& placed);

  const Expr& at(ExprId id) const { return nodes_[id]; }
  IndexTable& indices() const { return indices_; }
  /// Variables that it depends on: those of its reductions are not among them.
  const std::set<VariableId>& free_variables(ExprId id);
  /// The same of an index, which elements may stand in.
  void variables_in(IndexId index, std::set<VariableId>& found);
  bool has_load(ExprId id) { return has(Expr::Kind::Load, id, has_load_); }
  bool has_reduction(ExprId id) { return has(Expr::Kind::Reduce, id, has_reduction_); }
  bool has_running_sum(ExprId id) { return has(Expr::Kind::Running, id, has_running_sum_); }
  /// Calls visit(ExprId) for each part, elements within places among them.
  template <class Visit>
  void for_each_part(ExprId id, Visit visit) const {
    for (const ExprId part : nodes_[id].parts) visit(part);
    std::vector<ExprId> elements;
    for (const IndexId place : nodes_[id].places) indices_.elements_in(place, elements);
    for (const ExprId element : elements) visit(element);
  }

 private:
  ExprId intern(Expr node);
  /// known: what was found out before.
  bool has(Expr::Kind kind, ExprId id, std::map<ExprId, bool>& known);
  bool is_one_of(ExprId id, ElementId element) const;
  /// The same of the result of a formula.
  bool gives_one_of(const Expr& apply, ElementId element) const;

  IndexTable& indices_;
  std::vector<Expr> nodes_;
  std::map<Expr, ExprId> known_;
  std::map<ExprId, TensorId> called_after_;
  std::map<ExprId, std::set<VariableId>> free_;
  std::map<ExprId, bool> has_load_, has_reduction_, has_running_sum_;
  std::map<std::pair<ExprId, Target>, ExprId> for_target_;
};

}  // namespace passnet::author
