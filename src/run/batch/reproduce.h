// A record evaluated once more, as it was made: the same sample, graph, options and seed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/record.h"
#include "run/evaluate/evaluate.h"

namespace passnet::run {

/// The records that `selection` names: those of graph "NAME" or "SAMPLE/NAME"; all when it is empty.
/// Errors: BadInput (no such graph, with the nearest name; a graph of several samples).
Result<std::vector<record::RunRecord>> select_records(const std::vector<record::RunRecord>& records,
                                                      const std::string& selection);

struct Reproduced {
  /// What is other than at the time of the record. With a graph's, pass's or kernel's file among it nothing was
  /// evaluated.
  std::vector<record::Difference> differences;
  std::optional<record::RunRecord> again;
};

/// sample: where the sample lies now; empty: where it lay. machine: worker, build options and interruption; its other
/// fields are the record's. Errors: BadInput (the record does not say what it was made of; its sample or graph is
/// gone), as evaluate_sample, Resource (the machine kept it from being evaluated).
Result<Reproduced> reproduce(const record::RunRecord& recorded, const std::filesystem::path& sample,
                             const EvaluateOptions& machine);

}  // namespace passnet::run
