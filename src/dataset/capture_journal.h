// OUT/journal.jsonl of a capture: what became of each model. docs/dataset.md has the keys.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace passnet::dataset {

/// What became of one model. A text that is empty is null in the journal.
struct CaptureLine {
  std::string model, source;
  bool captured = false;
  std::string cause, message;                 // of a failure
  std::vector<std::string> graphs;            // directories, relative to OUT
  std::map<std::string, std::string> shapes;  // "captured", or cause and message of why it was dropped
  double seconds = 0;
  int64_t peak_mb = 0;  // largest resident memory of the process that captured it
  std::string library_version, torch_version, licence;
  bool earlier = false;  // it is of an earlier run; not in the journal
};

Json to_json(const CaptureLine& line);

/// Lines may lack all but the model and its source. Errors: BadInput naming the field.
Result<CaptureLine> capture_line_from_json(const Json& json);

/// As lines of the journal of one model have it in common.
std::string capture_key(std::string_view source, std::string_view model);

/// The last line of each model, by its key, as lines of an earlier run. Lines of another form are skipped: their models
/// are captured again.
std::map<std::string, CaptureLine> read_capture_journal(std::string_view text);

}  // namespace passnet::dataset
