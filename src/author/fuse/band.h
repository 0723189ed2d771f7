// Kernels that look at windows of a picture: neighbours one below the other look at common rows of it. A GPU's thread takes
// several of these, a band, and reads what they have in common once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "author/fuse/kernel.h"

namespace passnet::author {

/// The part of a value that neighbours in a band have in common.
enum class InBand : uint8_t {
  Same,    // it is the same for all of them, or in all rows
  Shared,  // it goes by the row of the picture alone
  Own,     // each has its own
};

/// A reduction whose first elements lie `step` rows apart for neighbours in a band.
struct Window {
  VariableId down = 0;  // its loop over rows
  SizeId step = 0;
  std::map<ExprId, InBand> parts;  // what it folds and all that this is made of, down to other reductions
};

struct Band {
  Loop down;                         // whose neighbours are taken together: the items' last loop but one
  SizeId columns = 0, across = 0;    // steps of the loops before it and of the last one
  std::map<ExprId, Window> windows;  // what these share
};

/// nullopt: it has rows, no such windows, or stores where it reads.
std::optional<Band> band_of(Definitions& definitions, const FusedKernel& kernel);

}  // namespace passnet::author
