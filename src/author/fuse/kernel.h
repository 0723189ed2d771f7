// One kernel: what it stores, and the loops that it does so in.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "author/define/definitions.h"
#include "author/fuse/access.h"

namespace passnet::author {

/// Merged loops count as the last of them, with the product of their extents.
struct Loop {
  VariableId variable = 0;
  SizeId extent = 0;
};
/// Returns the steps of nested loops; 1 without loops.
SizeId loop_steps(SizeTable& sizes, const std::vector<Loop>& loops);

/// Tells whether these loops, the last counts fastest, go from each element to its neighbour.
bool lie_in_one_piece(SizeTable& sizes, const Access& access, const std::vector<Loop>& loops);

/// Returns the memory access of a place of the tensor.
Access access_in(Definitions& definitions, TensorId tensor, const std::vector<IndexId>& place);

struct Store {
  TensorId tensor = 0;
  ExprId value = 0;
  std::vector<IndexId> place;
};

/// The variable that neighbouring lanes or threads differ in.
enum class Lanes : uint8_t {
  Items,  // the last of the items: each computes its own, reductions one step after the other
  Row,    // the elements of a row, which lanes share out and reduce together
};

struct FusedKernel {
  std::vector<Loop> items;                // independent of each other, the last one counts fastest
  std::vector<Loop> row;                  // of each item; results of its reductions are used in them
  std::vector<VariableId> row_variables;  // the loops of the row before they were merged
  Lanes lanes = Lanes::Items;
  std::vector<Store> stores;
  std::vector<ExprId> running;  // sums that go on along the row, each after those that it is made of
};

/// Tells whether a reduction over these variables goes over the row.
bool is_row(const FusedKernel& kernel, const std::vector<VariableId>& variables);

/// Tells whether the tensors can be stored by one kernel, and how. in_memory: stored by others. repeat: reductions of a few
/// steps are computed again for each element, where else they would be stored before.
/// Returns: the kernel, or the reductions that would be computed again for each element, and should be stored before.
struct Planned {
  std::optional<FusedKernel> kernel;
  std::vector<TensorId> apart;
};
Planned plan_kernel(Definitions& definitions, const std::vector<TensorId>& stored,
                    const std::function<bool(TensorId)>& in_memory, bool repeat);

/// The loads in what a kernel computes, each once, in the order in which they are met.
std::vector<ExprId> loads_in(const ExprTable& exprs, const FusedKernel& kernel);
/// All that values fold, what others follow from before these.
std::vector<ExprId> reductions_in(const ExprTable& exprs, const std::vector<ExprId>& values);
/// The reductions in it that stand in no other one.
std::set<ExprId> outermost_reductions(const ExprTable& exprs, const FusedKernel& kernel);

}  // namespace passnet::author
