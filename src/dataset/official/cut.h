// One range of a whole model as the official benchmark would have it, as a graph directory.
// Source: docs/dataset-format.md, "Official graphs".
#pragma once

#include <chrono>
#include <filesystem>

#include "analysis/range.h"
#include "base/result.h"
#include "dataset/official/listing.h"
#include "dataset/official/whole.h"
#include "ir/dtype.h"
#include "run/worker/worker.h"

namespace passnet::dataset::official {

struct CutOptions {
  int variant = kCapturedVariant;
  ir::DType dtype = ir::DType::Float32;  // float32, float16 or bfloat16
  bool measure = true;                   // run what is needed for figures of the values that the range starts from
  std::chrono::milliseconds timeout{120'000};  // of one step
};

/// Writes the nodes [start, end) of the model's body to the new directory `out`; an end behind the model is its end.
/// worker:   a reference worker that runs.
/// Errors:   BadInput: `out` is there; those of Variants and of cut; Io.
Result<void> cut_range(run::Worker& worker, const Whole& whole, analysis::Range range, const std::filesystem::path& out,
                       const CutOptions& options);

}  // namespace passnet::dataset::official
