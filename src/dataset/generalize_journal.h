// OUT/generalize.jsonl: what is known of models that were generalized already. docs/dataset-format.md has the keys.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "dataset/generalize.h"

namespace passnet::dataset {

struct GeneralizeLine {
  GeneralizeReport report;
  std::string rules;  // hash of the captures' texts and of the options that decide on variants
};

Json to_json(const GeneralizeLine& line);

/// The last line of each model, by the name of its first capture. Lines of another form are skipped: their
/// models are generalized again.
std::map<std::string, GeneralizeLine> read_generalize_journal(std::string_view text);

}  // namespace passnet::dataset
