#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/strings.h"
#include "record/record.h"

namespace passnet::record {

namespace {

Result<RunRecord> record_from_line(std::string_view line, const std::string& file) {
  PASSNET_TRY(const Json json, parse_json(line, file));
  return record_from_json(json);
}

}  // namespace

Result<std::vector<RunRecord>> records_from_text(std::string_view text, const std::string& file) {
  std::vector<RunRecord> records;
  for (uint32_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(whole ? end + 1 : text.size());
    if (line.empty()) continue;

    Result<RunRecord> record = record_from_line(line, file);
    if (!record && !whole) break;  // killed while writing
    if (!record) {
      Error error = std::move(record).error();
      error.at = SourceLoc{file, number, error.at ? error.at->column : 1};
      return error;
    }
    records.push_back(std::move(*record));
  }
  return records;
}

Result<std::vector<RunRecord>> load_records(const std::string& path) {
  PASSNET_TRY(const std::string text, read_file(path));
  return records_from_text(text, path);
}

}  // namespace passnet::record
