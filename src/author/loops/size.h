// Sizes of a pass: dimensions of its inputs and what follows from them, each known for every graph that the pass is
// written for. Sizes that are equal in all of them are one; that they are is then a condition of the plan.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace passnet::author {

using SizeId = uint32_t;
/// One per graph.
using ByExample = std::vector<int64_t>;

class SizeTable {
 public:
  /// taken: names that mean something else in the plan.
  explicit SizeTable(size_t examples, std::set<std::string> taken = {});

  SizeId one() const { return 0; }
  SizeId constant(int64_t value);
  /// A number that is no size: it is not taken for a dimension that happens to be as large.
  SizeId literal(int64_t value);
  std::optional<SizeId> known(const ByExample& values) const;
  /// A dimension of an input: text of the plan ("x.shape[0]"); name: what to call it ("width").
  SizeId dimension(ByExample values, const std::string& text, const std::string& name);
  /// A constant that is an input of the pattern, and known in the plan as text: its name, or what is not its
  /// name alone ("sizes[0]", "-index").
  SizeId given(ByExample values, const std::string& text);
  SizeId product(SizeId a, SizeId b);
  SizeId product(const std::vector<SizeId>& factors);
  SizeId sum(SizeId a, SizeId b);
  SizeId difference(SizeId a, SizeId b);
  /// Row-major.
  std::vector<SizeId> contiguous_strides(const std::vector<SizeId>& shape);
  /// Errors: Unsupported: it does not divide evenly in every graph.
  Result<SizeId> quotient(SizeId a, SizeId b);
  /// Rounded down.
  SizeId whole_quotient(SizeId a, SizeId b);

  const ByExample& values(SizeId id) const { return sizes_[id].values; }
  bool is_one(SizeId id) const { return id == one(); }
  /// Tells whether it is that number wherever the plan does not decline.
  bool is_constant(SizeId id, int64_t value) const;
  /// nullopt: it depends on a dimension.
  std::optional<int64_t> number(SizeId id) const;
  int64_t largest(SizeId id) const;
  int64_t smallest(SizeId id) const;

  /// For the plan ("batch * width") or, where dimensions are constants of the kernel, for it ("BATCH * WIDTH").
  std::string plan_text(SizeId id) const;
  std::string kernel_text(SizeId id) const;
  /// The dimensions of inputs, by their names in the plan and in kernels.
  std::vector<std::pair<std::string, std::string>> dimension_names() const;
  /// The same with what they are in each graph.
  std::vector<std::pair<std::string, ByExample>> dimensions() const;
  /// "width = x.shape[1]": the lines that name dimensions, in the order in which they were found.
  const std::vector<std::string>& lines() const { return lines_; }
  /// "width == y.shape[0]": what must hold for the plan to be right.
  const std::vector<std::string>& conditions() const { return conditions_; }
  /// Why one of them must hold, where it does not say so itself.
  std::optional<std::string> why(const std::string& condition) const;
  void require(std::string condition);
  /// Requires it where it does not follow from the numbers alone. why: a comment of the plan.
  void require_at_most(SizeId size, SizeId most, const std::string& why = {});
  void require_multiple(SizeId size, int64_t of);

 private:
  enum class Kind : uint8_t { Constant, Dimension, Product, Quotient, Sum, Difference };
  struct Size {
    Kind kind = Kind::Constant;
    ByExample values;
    SizeId a = 0, b = 0;
    std::string name;  // Dimension
  };
  SizeId intern(Size size, const std::string& text);
  /// The factors of a product, sorted: it is the same in any order.
  std::vector<std::string> factors_of(SizeId id) const;
  SizeId derived(Kind kind, SizeId a, SizeId b, ByExample values);
  std::string text(SizeId id, bool in_kernel, bool inside) const;
  /// Tells whether it is made of numbers alone.
  bool is_number(SizeId id) const;
  bool is_multiple(SizeId id, int64_t of) const;

  size_t examples_;
  std::set<std::string> taken_;
  std::vector<Size> sizes_;
  std::map<ByExample, SizeId> by_values_;
  std::vector<std::string> names_, lines_, conditions_;
  std::map<std::string, std::string> why_;  // by condition
};

}  // namespace passnet::author
