// Writes author.json: the passes written for a sample, what became of them, and why.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "author/forms/forms.h"
#include "author/judge/judge.h"
#include "author/reach/reach.h"
#include "author/report/precision.h"
#include "author/report/roofline.h"
#include "author/write.h"
#include "base/json/json.h"

namespace passnet::author {

/// One of the schedules of a pass that were measured, alone, on the graphs that take it the longest.
struct MeasuredSchedule {
  std::string pass, label;  // "default", or what is other in it
  double ratio = 0;         // over eager, a geometric mean; 0: it was not right there
};

struct SampleFacts {
  std::string sample;
  std::vector<std::string> graphs;
  double seconds = 0;   // what writing and judging took
  double budget_s = 0;  // 0: none
  bool allow_library = false;
  std::string only_form = {};  // that was asked for; empty: all that may help
  std::string form;            // that the passes are written in
  std::vector<OtherForm> other_forms;
  std::vector<MeasuredSchedule> schedules;
  std::map<std::string, Roofline> rooflines;
  std::map<std::string, Reach> reaches;  // both by pass
};

/// judged: null: nothing was. docs/schemas/author.json describes an item.
Json report_of(const SampleFacts& facts, const Authored& authored, const Judged* judged);

/// Graphs that no kept pass applies to, by name, and why. judged: null: every written pass counts as kept.
std::map<std::string, std::string> left_alone(const std::vector<std::string>& graphs, const Authored& authored,
                                              const Judged* judged);

/// The reports of several samples together.
struct AuthorSummary {
  size_t samples = 0, without_pass = 0, written = 0, kept = 0;
  size_t library = 0;  // of those that are kept, passes that call PyTorch
  size_t judged = 0, below_one = 0, ended_by_budget = 0;
  size_t uncounted = 0;                 // whose graphs are in no score
  std::map<std::string, size_t> forms;  // how many samples are written in each
  Precision precision;                  // over all of them
  double score = 1;                     // geometric mean of those that were judged and count
  double seconds_per_sample = 0;        // the mean
  std::vector<std::pair<std::string, size_t>>
      causes;  // why passes were not kept and operators left, the most frequent first
};
AuthorSummary summary_of(const Json& reports);

}  // namespace passnet::author
