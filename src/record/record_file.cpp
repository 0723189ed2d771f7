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

void for_each_line(std::string_view text,
                   const std::function<bool(uint32_t number, std::string_view line, bool whole)>& use) {
  for (uint32_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(whole ? end + 1 : text.size());
    if (!line.empty() && !use(number, line, whole)) return;
  }
}

Result<std::vector<RunRecord>> records_from_text(std::string_view text, const std::string& file) {
  std::vector<RunRecord> records;
  std::optional<Error> bad;
  for_each_line(text, [&](uint32_t number, std::string_view line, bool whole) {
    Result<RunRecord> record = record_from_line(line, file);
    if (record) {
      records.push_back(std::move(*record));
      return true;
    }
    if (!whole) return false;  // killed while writing
    bad = std::move(record).error();
    bad->at = SourceLoc{file, number, bad->at ? bad->at->column : 1};
    return false;
  });
  if (bad) return std::move(*bad);
  return records;
}

std::string to_lines(const std::vector<RunRecord>& records) {
  std::string lines;
  for (const RunRecord& one : records) lines += dump(to_json(one)) + "\n";
  return lines;
}

Result<std::vector<RunRecord>> load_records(const std::string& path) {
  PASSNET_TRY(const std::string text, read_file(path, FileKind::Lines));
  return records_from_text(text, path);
}

}  // namespace passnet::record
