// The values of a kernel as C++, statement by statement: each is written where it is first asked for, and has a name from then
// on. Here stands what the targets share; what one of them does its own way it overrides.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "author/text/facts.h"
#include "author/text/kernel_part.h"
#include "author/text/value_names.h"

namespace passnet::author {

/// Numbers that are added up before their sum is added to that of others.
inline constexpr int64_t kBlock = 16;

class ValueWriter {
 public:
  ValueWriter(const ValueWriter&) = delete;
  ValueWriter& operator=(const ValueWriter&) = delete;
  virtual ~ValueWriter() = default;

 protected:
  /// All that is given must outlive it.
  ValueWriter(Definitions& definitions, const KernelPart& part, const KernelFacts& facts);

  // ---- lines

  void line(const std::string& text);
  /// Returns the name of a constant of the kernel, which constants() declares. meaning: a comment.
  const std::string& constant(const std::string& stem, int64_t value, const char* meaning);
  const std::string& constants() const { return constants_; }
  /// Lines up to close() are within it.
  void open(const std::string& text);
  void close(const std::string& end = "}");
  void close_all(const std::vector<Loop>& loops);
  /// A name that nothing else has, of what is no value: the stem, or the stem and a number.
  std::string fresh(const std::string& stem) { return value_names_.fresh(stem); }
  /// Returns the name of a value.
  std::string name_for(ExprId id) { return value_names_.of(id); }
  void forget_name(ExprId id) { value_names_.forget(id); }
  std::string array_name(ExprId id, const std::string& what) { return value_names_.array_of(id, what); }
  /// The names of values that are written while it lives are forgotten: what they stand in is a scope.
  class Scoped {
   public:
    explicit Scoped(ValueWriter& writer) : writer_(writer), names_(writer.names_) {}
    ~Scoped() { writer_.names_ = std::move(names_); }
    Scoped(const Scoped&) = delete;
    Scoped& operator=(const Scoped&) = delete;

   private:
    ValueWriter& writer_;
    std::map<ExprId, std::string> names_;
  };

  // ---- values

  /// The name or the text of a value; what it takes is written before.
  std::string value(ExprId id);
  /// The type that its name is declared with.
  std::string type_of(ExprId id);
  /// Writes both values of a Guard, each in its branch.
  void branches(const std::string& condition, const Expr& guard, const std::function<void(ExprId)>& write);
  virtual std::string load_text(ExprId id);
  virtual std::string apply_text(ExprId id);
  /// Returns the formula of an Apply in this kernel.
  Formula formula_of(ExprId id) const;
  /// parts: the text of each operand. vectors: these are vectors.
  std::string formula_text(ExprId id, const std::vector<std::string>& parts, bool vectors = false) const;
  /// The name of a Guard's value, which is written as a branch.
  virtual std::string guarded(ExprId id);
  /// raw: an element of that tensor, as it is stored.
  std::string converted(TensorId tensor, const std::string& raw) const;
  const Element& element(TensorId tensor) const;
  const std::string& name_of(TensorId tensor) const { return definitions_.tensors()[tensor].name; }

  /// Tells whether it depends on one of these variables.
  bool moves_with(ExprId id, const std::set<VariableId>& variables) const;
  /// Returns the loads of values that happen whatever is chosen, each once: not within the choices of a Guard, and not
  /// those of named or kept values. in_folds: of what they fold too. is_whole: other values that count as one load,
  /// whatever they are made of.
  std::vector<ExprId> loads_of(const std::vector<ExprId>& values, bool in_folds,
                               const std::function<bool(ExprId)>& is_whole = {});

  /// Tells whether it is a vector of lanes, as values of a CPU may be.
  virtual bool is_vector(ExprId) { return false; }
  /// How such a vector is computed; nullopt: as a number would be.
  virtual std::optional<std::string> vector_text(ExprId) { return std::nullopt; }
  /// How it is loaded where earlier loops over a row kept it; nullopt: it is not there.
  virtual std::optional<std::string> kept_text(ExprId) { return std::nullopt; }
  /// Keeps what now has a name for later loops, if these need it.
  virtual void keep(ExprId, const std::string& /*name*/) {}
  virtual Target target() const = 0;
  /// REQUIRES: a Divide or a Remainder.
  virtual std::string divided_text(const Index& index) = 0;

  // ---- places

  std::string index_text(IndexId id);
  /// lane: what to say in place of the lane's variable; empty: leave it out.
  std::string offset_text(const Access& access, const std::string& lane);
  /// Returns the lane's variable; empty where there is none.
  std::string lane_name() const;

  // ---- loops

  /// A reduction as loops, one step after the other, for each lane its own. also: what else is done at each step.
  std::string reduction(ExprId id, const std::function<void()>& also = {});
  /// At most so many steps in any of the graphs.
  int64_t most_steps(const std::vector<Loop>& loops) const;
  /// Tells whether so many numbers are added that one sum, growing all the while, would lose digits that PyTorch's sums
  /// of sums keep: blocks of them are then added up first.
  bool adds_many(const Expr& reduction, const std::vector<Loop>& loops) const;
  /// Opens loops at the end of each block, up to close().
  void open_end_of_block(const std::vector<Loop>& loops) { open("if (" + ends_block(loops) + ")"); }
  /// On which condition a step is the last one of its block.
  virtual std::string ends_block(const std::vector<Loop>& loops);
  const std::string& block_length();
  /// The loops of a reduction: merged as the kernel's where it goes over the row.
  std::vector<Loop> loops_of(const Expr& reduction) const;
  void open_loops(const std::vector<Loop>& loops);
  /// The same for loops that a lane or thread goes through by itself, step after step, up to close_steps(). values: what each
  /// step computes.
  virtual void open_steps(const std::vector<Loop>& loops, const std::vector<ExprId>& /*values*/) { open_loops(loops); }
  virtual void close_steps(const std::vector<Loop>& loops) { close_all(loops); }
  /// Writes the lines after the loop of a reduction. total: what it folded to.
  virtual void after_steps(const Expr& /*reduction*/, const std::string& /*total*/) {}
  /// Return the begin and the end of a loop: that of a split row goes over a share of it.
  std::string begin_of(const Loop& loop) const { return part_.shares(loop) ? "begin" : "0"; }
  std::string end_of(const Loop& loop) const { return part_.shares(loop) ? "end" : extent_text(loop); }
  std::string extent_text(const Loop& loop) const { return sizes_.kernel_text(loop.extent); }
  /// While it lives, lanes and the names of variables are those of other loops.
  class OtherLoops {
   public:
    explicit OtherLoops(ValueWriter& writer) : writer_(writer), lane_(writer.lane_), variables_(writer.variables_) {}
    ~OtherLoops() {
      writer_.lane_ = lane_;
      writer_.variables_ = std::move(variables_);
    }
    OtherLoops(const OtherLoops&) = delete;
    OtherLoops& operator=(const OtherLoops&) = delete;

   private:
    ValueWriter& writer_;
    std::optional<Loop> lane_;
    std::map<VariableId, std::string> variables_;
  };

  Definitions& definitions_;
  ExprTable& exprs_;
  IndexTable& indices_;
  SizeTable& sizes_;
  const KernelPart& part_;
  const FusedKernel& kernel_;
  const KernelFacts& facts_;
  int guards_ = 0;            // that are being written: what is in them is not there for every element
  std::optional<Loop> lane_;  // which neighbouring lanes or threads differ in
  std::map<ExprId, std::string> names_;
  std::map<VariableId, std::string> variables_;
  std::string out_;

 private:
  void name_loops();
  std::string named(ExprId id, const std::string& text);
  std::string convert_text(const Expr& expr);
  void write_same_reductions_in(ExprId id, const std::set<VariableId>& variables, std::set<ExprId>& met);
  void collect_rounded_products(ExprId id, std::set<ExprId>& met);

  ValueNames value_names_;
  std::map<std::string, std::string> constant_names_;  // by stem
  std::string constants_;
  std::set<ExprId> rounded_products_;  // before anything is added to them
  int indent_ = 2;
};

}  // namespace passnet::author
