// Windows of places beside each other look at common parts of a picture, and at something else beside it: a task of a CPU has a
// copy of the picture on its stack, with what lies beside it, for all places that share it.
#pragma once

#include <optional>
#include <vector>

#include "author/fuse/kernel.h"

namespace passnet::author {

/// A dimension of the picture.
struct PictureAxis {
  Access at;                      // where lanes, rows and windows are, from where the picture begins
  SizeId extent = 0, stride = 0;  // how many elements, and how far apart in memory
};

/// The value that a Guard loads, or takes beside the picture.
struct Padded {
  ExprId guard = 0;
  PictureAxis along;                // of the lanes, by steps of 1 or 2
  std::optional<PictureAxis> down;  // of the loop outside of theirs; none: there is one row
  std::vector<ExprId> conditions;   // what else must hold: if not, all of it lies beside the picture
  std::vector<Loop> folds;          // a picture for each of their steps
  std::vector<Loop> items;          // pictures one after the other
};
/// Those of a kernel whose lanes are items and have no row, each where its copies have room.
std::vector<Padded> padded_in(Definitions& definitions, const FusedKernel& kernel);

/// How often a loop of the axis is gone through.
SizeId axis_steps(const IndexTable& indices, const FusedKernel& kernel, VariableId variable);
/// Places from the first that is looked at to the last, in any graph.
int64_t most_places(const SizeTable& sizes, const IndexTable& indices, const FusedKernel& kernel,
                    const PictureAxis& axis);

}  // namespace passnet::author
