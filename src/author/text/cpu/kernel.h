// A kernel for the CPU: tasks have chunks of the items, 16 lanes at a time where what it computes allows it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "author/fuse/edge.h"
#include "author/fuse/for_target.h"
#include "author/fuse/padded.h"
#include "author/text/kernel_writer.h"

namespace passnet::author {

class CpuKernel final : public KernelWriter {
 public:
  CpuKernel(Definitions& definitions, const KernelPart& part, const KernelFacts& facts);

 private:
  // cpu_kernel.cpp: loops
  void write_items() override;
  void write_rows() override;
  void write_one_item();
  void write_tiles();
  void block(const std::string& from, const std::string& to);
  bool pays_to_share(const std::vector<Loop>& outer);
  void keep_what_items_share(const std::vector<Loop>& outer);
  void keep_what_steps_share();
  void collect_shared(ExprId id, std::set<ExprId>& met, std::vector<ExprId>& shared);
  bool takes_long(ExprId id);
  void reduce(const Stage& stage);
  void reduce_lanes(const Stage& stage, const std::vector<Loop>& loops, const std::string& total);
  void fold_lanes(const Stage& stage, const std::vector<Loop>& loops, const std::string& name);
  bool follows_from_kept(ExprId id);
  void store_row(const Stage& stage);
  /// Outside of the lanes' loop.
  void scalar(const auto& write) {
    const bool vectors = std::exchange(vectors_, false);
    write();
    vectors_ = vectors;
  }
  void declare_array(const std::string& name, const std::vector<Loop>& loops, bool by_lane);
  void require_room(const std::vector<Loop>& loops, int64_t most);
  void require_room(SizeId elements, int64_t most);
  void decode(const std::vector<Loop>& loops, const std::string& item) override;
  std::string divided_text(const Index& index) override;
  Target target() const override { return Target::Cpu; }
  std::string kept_load(const Kept& kept) override;
  std::string kept_store(const Kept& kept, const std::string& value) override;
  /// The number of an element in its row.
  std::string place_in_row();
  void after_steps(const Expr& reduction, const std::string& total) override;

  // cpu_strips.cpp: reductions down columns, strip by strip
  bool folds_columns();
  bool lies_in_strips(ExprId id, std::set<ExprId>& met);
  void strip_body();
  void fold_columns(const Stage& stage);
  void store_columns(const std::vector<const Store*>& stores);
  void open_blocks();

  // cpu_products.cpp: sums in tiles
  void write_product();
  std::string computed() const;
  std::string write_row_operand();
  std::string write_column_operand();

  // cpu_turned.cpp: rows whose neighbours in memory are of other rows, items whose neighbours are not, and tiles
  std::vector<ExprId> loads_to_turn();
  void turn_items();
  void turn_tile();
  void open_turned_rows(const std::vector<ExprId>& loads);
  std::optional<std::string> turned_text(ExprId id);

  // cpu_places.cpp: places in a row that are computed once for all items
  struct Gathered {
    std::string places;
    Access row;  // its first element
    SizeId length = 0;
  };
  std::optional<IndexId> place_of_lane(const Access& access);
  bool is_place_of_lane(ExprId id);
  void keep_places(const std::vector<Loop>& outer);
  std::optional<Gathered> gathered(const Expr& load);

  // cpu_groups.cpp: lanes in groups, which take turns or have one element
  struct Turns {
    int64_t lanes = 0;  // of a group
    Parts parts;
  };
  std::optional<int64_t> group_of(SizeId length);
  bool is_there_in_groups(ExprId id, SizeId length);
  std::optional<Turns> turns_of(ExprId id);
  std::string by_turns(const Turns& turns);

  // cpu_padded.cpp: what windows look at, copied with what lies beside it
  struct PaddedCopy {
    Padded padded;
    std::string name, length, height;  // in the kernel
  };
  std::string length_text(const PictureAxis& axis);
  std::string place_text(const PictureAxis& axis);
  std::string step_number(const std::vector<Loop>& loops);
  std::string row_text(const PaddedCopy& copy, const std::string& down);
  void declare_padded();
  void copy_padded();
  void copy_rows(const PaddedCopy& copy);
  std::optional<std::string> padded_text(ExprId guard);

  // cpu_planes.cpp: windows of small pictures, whose lanes are channels
  struct TurnedPlane {
    std::string name;
    std::vector<Loop> loops;  // within it
  };
  struct Planes {
    Loop channel;
    std::vector<Loop> outer, inner;          // what counts planes of all channels, and places within one
    std::set<VariableId> folded;             // loops of windows
    std::map<ExprId, TurnedPlane> turned;    // loads
    std::map<ExprId, PaddedCopy> padded;     // by guard
    std::map<TensorId, std::string> stored;  // where they lie until they are turned back
    int64_t floats = 0;                      // of all these, for each lane
  };
  std::optional<Planes> planes_of();
  bool is_of_planes(const Padded& padded, Planes& planes);
  bool is_plane(const Access& access, const std::vector<Loop>& loops);
  bool lies_in_planes(ExprId id, Planes& planes);
  std::vector<Loop> loops_in_plane(const Access& from, const Planes& planes);
  void write_planes(Planes planes);
  std::string first_of_plane(const Access& access);
  void declare_planes(const std::string& name, const std::vector<Loop>& loops);
  void turn_what_is_read();
  std::optional<std::string> plane_text(ExprId id);

  // cpu_lanes.cpp: values of 16 lanes
  bool can_be_vectors();
  bool folds_in_lanes(ExprId id, std::set<ExprId>& met);
  static bool is_folded_by_lanes(const Expr& reduction);
  bool moves_with_lane(ExprId id);
  bool is_vector(ExprId id) override;
  bool is_by_lane(ExprId id);
  bool chooses_for_all_lanes(const Expr& expr);
  std::optional<Edge> edge_of(ExprId id);
  std::optional<Parts> parts_of(ExprId id);
  std::string guarded(ExprId id) override;
  std::optional<std::string> row_load(const Expr& guard, const Edge& edge, const std::string& at);
  void write_at_edge(ExprId id, const Edge& edge, const std::string& name, const std::string& at);
  void write_else_by_lane(ExprId id, const std::string& name);
  std::string lanes_text(ExprId id);
  std::string one_of_parts(ExprId id, const Parts& parts);
  std::optional<std::string> vector_text(ExprId id) override;
  void store(const Store& store) override;
  ExprId without_rounding(ExprId id, ElementId stored);
  bool only_moves(ExprId id, ElementId element);
  void move(const Store& store, ExprId id);
  std::string load_vector(const Expr& expr);
  std::string load_apart(const Expr& expr, const Access& from);
  /// The loop of the lanes is cut into pieces of `length` steps (a dimension that was merged): in each of them neighbours
  /// are neighbours in memory, or all are one element.
  struct Piece {
    SizeId length = 0;
    bool moves = false;
  };
  std::optional<Piece> piece_of(const Access& from);
  bool is_same_in_piece(IndexId id, std::optional<SizeId>& length);
  std::string in_one_piece(const Piece& piece);
  std::optional<std::string> load_for_groups(const Expr& load, const Access& from,
                                             const Piece& piece);  // cpu_groups.cpp
  std::string load_in_piece(const Expr& expr, const Access& from, const Piece& piece);
  std::string by_lane(ExprId id);
  std::string offset_of_lane(const Access& access);
  std::optional<std::pair<IndexId, SizeId>> rest_of_lane(const Access& access);
  void store_text(const Store& store, const Access& to, ExprId value, std::string text) override;

  /// Steps of what lanes have an array of on the stack, of all arrays together.
  static constexpr int64_t kMostInLanes = 1024;
  /// Elements of an array on the stack, for any graph.
  static constexpr int64_t kMostInArray = 65536;

  bool vectors_ = false;                  // values that move with the lane are vectors
  bool is_flat_ = false;                  // the loop over a row's lanes is one over all of its elements
  std::map<ExprId, std::string> turned_;  // loads, and where those that were turned lie
  std::map<ExprId, std::string> places_;  // places that are computed, and where those that all items share are kept
  std::map<ExprId, PaddedCopy> padded_;   // by guard
  std::optional<Planes> planes_;
};

}  // namespace passnet::author
