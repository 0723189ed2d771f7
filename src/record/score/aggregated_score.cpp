#include "record/score/aggregated_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json/json_object.h"
#include "base/text/strings.h"
#include "record/score/score.h"

namespace passnet {

PASSNET_JSON_FIELDS(record::Seal, "aggregated_score.json", PASSNET_FIELDS(records, head))

}  // namespace passnet

namespace passnet::record {

namespace {

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)}); }

// The first place where two values differ, below `where`; empty when none does. Keys that `expected` lacks do not count.
std::string difference(const Json& found, const Json& expected, const std::string& where) {
  const bool both_numbers = found.is_number() && expected.is_number();
  if (both_numbers && near(found.get<double>(), expected.get<double>())) return "";
  if (expected.is_object() && found.is_object()) {
    for (const auto& [key, value] : expected.items()) {
      const std::string inner = where.empty() ? key : where + "." + key;
      if (!found.contains(key)) return fmt::format("{} is missing", inner);
      if (std::string one = difference(found.at(key), value, inner); !one.empty()) return one;
    }
    return "";
  }
  if (expected.is_array() && found.is_array() && expected.size() == found.size()) {
    for (size_t i = 0; i < expected.size(); ++i) {
      std::string one = difference(found[i], expected[i], fmt::format("{}[{}]", where, i));
      if (!one.empty()) return one;
    }
    return "";
  }
  if (found == expected) return "";
  return fmt::format("{}: found {}, the records give {}", where, quoted(dump(found), 40), quoted(dump(expected), 40));
}

}  // namespace

Json aggregated_score(const std::vector<RunRecord>& records, const std::string& id, const Seal& seal) {
  Json json = to_json(score(judge_all(records)), id);
  if (seal.records > 0) json.update(to_json_object(seal));
  return json;
}

Result<Seal> seal_from_text(std::string_view text, const std::string& file) {
  PASSNET_TRY(const Json json, parse_json(text, file));
  if (!json.is_object() || (!json.contains("records") && !json.contains("head"))) return Seal();
  Result<Seal> seal = from_json_object<Seal>(json);
  if (seal) return seal;
  Error error = std::move(seal).error();
  error.at = SourceLoc{file, 0, 0};
  return error;
}

std::string score_disagreement(const Json& found, const std::vector<Verdict>& verdicts, const std::string& id) {
  return difference(found, to_json(score(verdicts), id), "");
}

}  // namespace passnet::record
