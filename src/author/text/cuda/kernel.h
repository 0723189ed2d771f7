// A kernel for CUDA: a thread has an item, or as many neighbours as the plan says, beside or below each other; a block a tile;
// or THREADS threads a row.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "author/text/kernel_writer.h"

namespace passnet::author {

class CudaKernel final : public KernelWriter {
 public:
  CudaKernel(Definitions& definitions, const KernelPart& part, const KernelFacts& facts)
      : KernelWriter(definitions, part, facts) {}

 private:
  // kernel.cpp: items and rows
  void write_items() override;
  void write_rows() override;
  void write_stage(const Stage& stage);
  void write_running_sums(const Stage& stage);
  void open_threads(const Stage& stage, bool in_parts);
  std::string part_of_thread() const;
  std::string folded_with(const Expr& reduction, const std::string& total, const std::string& x) override;
  void fold_over_threads(const Expr& reduction, const std::string& total) override;
  void fold_over(const char* of, const char* threads, const Expr& reduction, const std::string& total);
  void open_parts(const std::string& part) override;
  void decode(const std::vector<Loop>& loops, const std::string& item) override;
  std::string divided_text(const Index& index) override;
  Target target() const override { return Target::Cuda; }
  std::string kept_load(const Kept& kept) override;
  std::string kept_store(const Kept& kept, const std::string& value) override;
  std::string load_text(ExprId id) override;
  std::string apply_text(ExprId id) override;
  bool divides_all(const Expr& expr) const;

  // moments.cpp: mean and squares of a row at once
  struct Moments {
    ExprId element = 0, mean = 0, squares = 0;
  };
  std::optional<Moments> moments_of(ExprId sum, ExprId squares) const;
  void keep_for_moments(const std::vector<Stage>& stages);
  void write_moments(ExprId sum, const Moments& moments);

  // columns.cpp: items whose loops DOWN threads of a block share
  void open_columns();
  std::string steps_of_inner_loops() const;
  std::string end_of_column() const;
  std::string is_first() const override;
  std::string ends_block(const std::vector<Loop>& loops) override;
  void after_steps(const Expr& reduction, const std::string& total) override;

  // steps.cpp: loops that a thread goes through step by step
  void open_steps(const std::vector<Loop>& loops, const std::vector<ExprId>& values) override;
  void close_steps(const std::vector<Loop>& loops) override;
  void name_steps(const std::vector<Loop>& loops);
  std::vector<ExprId> loads_ahead(const std::vector<Loop>& loops, const std::vector<ExprId>& values);

  // cuda_tiles.cpp
  void write_tiles();
  void read_tiles(const std::string& top, const std::string& start);

  // bands.cpp: places one below the other that a thread takes
  void write_bands();
  std::string extent_of_items(const Loop& loop);
  void open_each();
  void write_windows_in(ExprId id, std::set<ExprId>& met);
  void write_window(ExprId id, const Window& window);
  void write_shared(ExprId id, const Window& window);

  // cuda_products.cpp
  void write_product();
  std::string write_operand(const std::string& stem, const ProductOperand& operand);
  std::string write_windows(const Windows& windows);

  // packs.cpp: neighbours that a thread takes at once
  void by_pack(const std::vector<ExprId>& elements, const std::vector<const Store*>& stores,
               const std::function<void()>& also = {});
  void open_lanes();
  void close_lanes();
  void load_packs(const std::vector<ExprId>& elements, const std::vector<const Store*>& stores);
  void read_ahead(const Stage& stage);
  std::vector<ExprId> packs_in(std::vector<ExprId> values, const std::vector<const Store*>& stores);
  bool is_pack(ExprId id);
  void write_pack(const std::string& to, ExprId id);
  std::string guarded(ExprId id) override;
  std::string chosen(ExprId id);
  void forget_reads_since(const std::map<ExprId, std::string>& before);
  void read_only_elements();
  std::string pack_text(ExprId load);
  std::string pack_offset(const Access& access);
  bool across_rows() const { return facts_.packing && facts_.packing->across_rows; }
  std::set<VariableId> variables_of_pack() const;
  bool is_packed(const Access& access, TensorId tensor);
  void store_text(const Store& store, const Access& to, ExprId value, std::string text) override;

  std::map<ExprId, std::string> packs_;            // loads of several elements, and choices between such
  std::string reads_where_;                        // on which condition what is written reads; empty: on any
  std::map<ExprId, std::string> tiles_;            // loads that lie in shared memory
  std::string first_;                              // where a thread's band begins
  std::vector<std::vector<ExprId>> ahead_;         // by loop that is open: what its steps read ahead
  std::string step_;                               // of a loop that is open: its number, of a column among all
  std::pair<size_t, size_t> names_of_steps_;       // where in the text it is taken apart
  std::map<ExprId, std::string> steps_;            // such loads, and where they lie
  std::map<TensorId, std::string> packed_stores_;  // what is stored together after the loop over it
  std::map<ExprId, Moments> moments_;              // by their sum
  bool in_parts_ = false;                          // a thread's part of a row is short enough for its registers
};

}  // namespace passnet::author
