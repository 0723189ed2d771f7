// Facts about a bundle that its author states: expect.json, or the fields of the same names in a family file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::selftest {

/// Words as they were written; load_corpus looks them up.
struct Expectation {
  std::vector<int> rows;                    // of the catalogue of attacks
  std::string what;                         // the mechanism, in a sentence
  std::string graph;                        // a name among the corpus's graphs
  std::vector<std::string> verdict;         // words that record::verdict_named knows
  std::vector<std::string> layers;          // names of run::Layer
  std::string reason;                       // a text that the record's error must hold; may be empty
  std::string device = "cpu";               // "cpu" or "cuda"
  double timeout_s = 0;                     // for one request; 0: the usual
  bool allow_library = false;               // the plan may call PyTorch
  std::string host_code;                    // "python": Python runs it; else it is read
  SourceLoc at;                             // the whole of it
  std::map<std::string, SourceLoc> places;  // of fields, where these are known

  SourceLoc place_of(const std::string& field) const;
};

/// Reads the text of an expect.json. file: as errors name it.
/// Errors: BadInput at the file: no JSON, a field that is missing or of another type.
Result<Expectation> parse_expectation(const std::string& text, const std::string& file);

/// Returns: the text of an expect.json; parse_expectation gives the same value back, without places.
std::string render_expectation(const Expectation& expected);

}  // namespace passnet::selftest
