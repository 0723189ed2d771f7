// One record, as far as boards, histories and comparisons need it: no trial times, no texts.
#pragma once

#include <optional>
#include <string>

#include "record/floor.h"
#include "record/score/compare.h"
#include "record/score/score.h"
#include "record/score/summary.h"

namespace passnet::store {

struct Digest {
  record::ComparedRecord compared;  // with sample, graph, headline, speedup and interval; without made_of
  record::LeftOut left_out = record::LeftOut::No;
  record::Counted counted;  // what a score counts; of no meaning where it leaves the record out
  std::string compiler, device, hardware, isolation, version, started;
  std::string kind;    // of the graph in a dataset; empty: not known
  std::string dtype;   // of the first floating output, else of the first; empty: there is no output
  std::string reason;  // first line of the error; empty: none
  double reference_us = 0, candidate_us = 0;  // medians; 0: not timed
  std::optional<record::Limit> limit;         // none: no figure
  double max_error = 0;
  int passes_from = 6;
  double seconds = 0;  // that its evaluation took
};

Digest digest_of(const record::RunRecord& record);

/// The share of the machine's limit that the candidate reaches, 1 = all of it; 0: not known.
double limit_share(const Digest& digest);

}  // namespace passnet::store
