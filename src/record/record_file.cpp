#include <nlohmann/json.hpp>

#include "base/lines.h"
#include "base/strings.h"
#include "record/record.h"

namespace passnet::record {

namespace {

Result<RunRecord> record_from_line(std::string_view line, const std::string& file) {
  PASSNET_TRY(const Json json, parse_json(line, file));
  return record_from_json(json);
}

}  // namespace

Lines lines_of(std::string_view text) {
  return [text](const UseLine& use) -> Result<void> {
    for_each_line(text, use);
    return {};
  };
}

Result<void> for_each_record(const Lines& lines, const std::string& file, const UseRecord& use) {
  std::optional<Error> bad;
  PASSNET_TRY_VOID(lines([&](uint32_t number, std::string_view line, bool whole) {
    Result<RunRecord> record = record_from_line(line, file);
    if (record) {
      use(number, line, std::move(*record));
      return true;
    }
    if (!whole) return false;  // killed while writing
    bad = std::move(record).error();
    bad->at = SourceLoc{file, number, bad->at ? bad->at->column : 1};
    return false;
  }));
  if (bad) return std::move(*bad);
  return {};
}

namespace {

Result<std::vector<RunRecord>> collect(const Lines& lines, const std::string& file) {
  std::vector<RunRecord> records;
  PASSNET_TRY_VOID(for_each_record(
      lines, file, [&](uint32_t, std::string_view, RunRecord record) { records.push_back(std::move(record)); }));
  return records;
}

}  // namespace

Result<std::vector<RunRecord>> records_from_text(std::string_view text, const std::string& file) {
  return collect(lines_of(text), file);
}

std::string to_lines(const std::vector<RunRecord>& records) {
  std::string lines;
  for (const RunRecord& one : records) lines += dump(to_json(one)) + "\n";
  return lines;
}

Result<std::vector<RunRecord>> load_records(const std::string& path) {
  return collect([&](const UseLine& use) { return for_each_line_of(path, use); }, path);
}

}  // namespace passnet::record
