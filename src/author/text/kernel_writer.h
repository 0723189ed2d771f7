// Writes what kernels of both targets have in common: stores, values that loops need before them, values that several
// loops over a row keep, and partial results of split rows.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "author/text/stages.h"
#include "author/text/value_writer.h"

namespace passnet::author {

class KernelWriter : public ValueWriter {
 public:
  /// The body of the function. REQUIRES: it is called once.
  std::string run();

 protected:
  KernelWriter(Definitions& definitions, const KernelPart& part, const KernelFacts& facts);

  /// The whole kernel: each lane or thread has items of its own, or they share rows.
  virtual void write_items() = 0;
  virtual void write_rows() = 0;

  /// The elements of one item, or of lanes of items.
  void item_body();
  bool sums_go_on() const { return !kernel_.running.empty(); }
  /// Declares the running sums before the first element, in their order.
  std::vector<std::string> declare_sums(const std::string& stem);
  /// All of a row along which sums go on, one element after the other.
  void go_through_row(const Stage& stage);
  /// Returns the values that such a row computes for each element.
  std::vector<ExprId> values_of_row(const Stage& stage) const;
  /// Declares the total of a stage so far: empty where it folds nothing.
  std::string declare_total(const Stage& stage);
  void fold_one_more(const Stage& stage, const std::string& total);
  /// The text of a fold of numbers so far with one more.
  virtual std::string folded_with(const Expr& reduction, const std::string& total, const std::string& x);
  /// Returns the condition that it is the first of the threads of a block that share an item; empty: none do.
  virtual std::string is_first() const { return {}; }
  /// Stores by the first of all that share an item.
  void store_outside_of_row();
  virtual void store(const Store& store);
  void store_all(const std::vector<const Store*>& stores);
  /// value, text: what is stored, as what it is rounded from where storing rounds. to: where.
  virtual void store_text(const Store& store, const Access& to, ExprId value, std::string text);
  Access access_to(const Store& store) { return access_in(definitions_, store.tensor, store.place); }
  bool lies_in_row(const Store& store) { return author::lies_in_row(definitions_, kernel_, store); }
  bool all_lie_in_row();
  /// Tells whether an element that is computed twice, or read later on, would be found changed.
  bool overwrites() const;

  /// The variables of items by their number: `item`, the last counts fastest.
  virtual void decode(const std::vector<Loop>& loops, const std::string& item) = 0;
  std::string product_text(const std::vector<Loop>& loops) { return sizes_.kernel_text(loop_steps(sizes_, loops)); }
  std::string item_count() { return product_text(kernel_.items); }
  /// Returns the begin and the distance of a tile's steps along the lanes from `start` on in a tensor, or a function.
  std::string along_lane(TensorId tensor, const Access& from, const std::string& start);
  /// How many tiles of that side there are along a loop.
  std::string tiles_along(const Loop& loop, const std::string& side) const;
  /// Names the loops over a row, or those of a reduction, of which lanes or threads share the last.
  void enter_row(const std::vector<Loop>& loops);

  // ---- operands of products (product_operands.cpp)

  /// Names the loops of the sum, of which `step` is the number.
  void decode_steps(const std::string& step);
  /// The end of a function that gives the address of an element in memory: loops along which it lies in one piece are one.
  void write_address(const ProductOperand& operand, const std::string& across, const std::string& step);

  // ---- what comes before a loop

  /// All that does not depend on these variables, for the loop over them.
  void hoist(std::set<VariableId> variables);
  /// Hoists the loads that happen whatever is chosen: reads do not wait for what is computed of the first of them.
  void hoist_loads(const std::set<VariableId>& variables);
  /// Hoists all parts of one value that follow from no reduction either.
  void hoist_in(ExprId id, const std::set<VariableId>& variables, std::set<ExprId>& met);
  /// Writes the values that follow from the reductions so far.
  void write_what_is_known();

  // ---- elements of a row that are computed once, and kept for later loops

  struct Kept {
    std::string name;
    bool is_there = false;
    bool by_step = false;  // of lanes of items: for each step that they go through
  };
  std::set<ExprId> kept_ids() const;
  /// Chooses the values that are worth keeping.
  void choose_kept(const std::vector<Stage>& stages, bool loads);
  std::optional<std::string> kept_text(ExprId id) override;
  void keep(ExprId id, const std::string& name) override;
  /// Text that loads such an element, and the statement that stores it.
  virtual std::string kept_load(const Kept& kept) = 0;
  virtual std::string kept_store(const Kept& kept, const std::string& value) = 0;
  /// Makes the values that the loop kept available to the next ones.
  void after_stage();

  // ---- rows that several blocks or tasks share: PARTS of them, of which this one is `part`

  /// Its share of the first loop of the row: [begin, end).
  void open_share();
  void store_share(ExprId id, std::string total);
  /// Folds the partial results of earlier kernels.
  void fold_given();
  /// A loop over the parts.
  virtual void open_parts(const std::string& part);
  /// Folds over the threads that shared out a loop: all of them get the total.
  virtual void fold_over_threads(const Expr& /*reduction*/, const std::string& /*total*/) {}

  std::string number_ = "item";  // of the item, among all
  /// How many values are made of it, and stores of it.
  int uses(ExprId id) const {
    const auto found = uses_.find(id);
    return found == uses_.end() ? 0 : found->second;
  }

  std::map<ExprId, Kept> kept_;
  bool keeps_ = false;          // the loop is one of those that keep, and find, these
  std::set<ExprId> elsewhere_;  // that are computed before all loops and kept: nothing of them is hoisted

 private:
  void count_uses(ExprId id);
  std::optional<ExprId> fold_that_stores(const std::vector<const Store*>& in_row);
  void write_reductions_in(ExprId id, std::set<ExprId>& met);
  bool is_known(ExprId id) const;
  void write_known_in(ExprId id, std::set<ExprId>& met);
  std::string share_place(const std::string& part);

  std::map<ExprId, int> uses_;
  std::vector<ExprId> written_;  // what this loop kept
};

}  // namespace passnet::author
