// Provenances of many records in little memory.
#pragma once

#include <deque>
#include <memory>

#include "record/provenance.h"

namespace passnet::record {

/// Holds equal parts of provenances once: most records of a run are made of the same, but for the graph.
class SharedProvenances {
 public:
  /// Returns what differences() reads of a provenance, with the names of the graph's files and without their hashes.
  std::shared_ptr<const Provenance> share(const Provenance& provenance);

 private:
  std::deque<std::shared_ptr<const Provenance>> latest_;
};

}  // namespace passnet::record
