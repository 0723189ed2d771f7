#include "run/keep/record_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/hash.h"
#include "base/text/strings.h"

namespace passnet::run {

Result<std::vector<record::SessionLine>> load_sessions(const fs::path& run) {
  const fs::path path = run / record::kSessionsFile;
  if (!entry_exists(path)) return std::vector<record::SessionLine>{};
  PASSNET_TRY(const std::string text, read_beneath(run, record::kSessionsFile, FileKind::Lines));
  return record::sessions_from_text(text, path.string());
}

Result<RecordFile> RecordFile::open(const fs::path& path, bool keep) {
  PASSNET_TRY(LineFile lines, LineFile::open(path, keep));
  RecordFile file(std::move(lines), path);
  if (!keep) return file;
  const fs::path directory = path.parent_path();
  PASSNET_TRY(const std::vector<record::SessionLine> sessions, load_sessions(directory.parent_path()));
  PASSNET_TRY(record::Chain chain,
              record::check_chain({.sample = directory.filename().string(),
                                   .file = path.string(),
                                   .lines = record::lines_of(file.lines_.kept()),
                                   .sessions = &sessions},
                                  [&](record::RunRecord record) { file.records_.push_back(std::move(record)); }));
  if (chain.problems.size() > chain.left_behind.size()) PASSNET_TRY_VOID(record::first_problem(chain));
  for (const record::ChainLine& line : chain.lines) file.hashes_.emplace_back(line.sha256());
  file.left_behind_.assign(file.records_.size(), false);
  for (const size_t position : chain.left_behind) file.left_behind_[position] = true;
  file.end_ = std::move(chain.end);
  return file;
}

std::vector<record::Session::SetAside> RecordFile::describe(const std::vector<size_t>& positions) const {
  std::vector<record::Session::SetAside> described;
  for (const size_t i : positions) {
    const record::RunRecord& record = records_.at(i);
    described.push_back({record.graph, record.chain ? record.chain->number : 0, hashes_.at(i)});
  }
  return described;
}

std::vector<std::string> RecordFile::unchained() const {
  std::vector<std::string> lines;
  for (size_t i = 0; i < records_.size(); ++i) {
    if (!records_[i].chain) lines.push_back(hashes_[i]);
  }
  return lines;
}

void RecordFile::begin(std::string session) { previous_ = std::move(session); }

Result<void> RecordFile::append(record::RunRecord record) {
  PASSNET_CHECK(!record.provenance || record.provenance->options.without.empty(),
                "a record that was made without a defence is not kept");
  record.chain.reset();
  if (!previous_.empty()) record.chain = record::Link{end_.records + 1, previous_};
  const std::string line = dump(record::to_json(record));
  if (Result<void> appended = lines_.append(line); !appended)
    return std::move(appended).error().with_hint(
        "free some space, then go on with --resume; finished records are kept");
  hashes_.push_back(sha256_hex(line));
  left_behind_.push_back(false);
  if (record.chain) end_ = {record.chain->number, previous_ = hashes_.back()};
  records_.push_back(std::move(record));
  return {};
}

Result<void> RecordFile::supersede(const std::vector<size_t>& positions) {
  if (positions.empty()) return {};
  // records_ are the lines that are not blank, and the kept ones come first.
  std::string remaining;
  std::vector<std::string_view> moved;
  size_t position = 0;
  auto next = positions.begin();
  for (const std::string_view line : split(lines_.kept(), '\n')) {
    if (trim(line).empty()) continue;
    if (next != positions.end() && *next == position++) {
      moved.push_back(line);
      ++next;
    } else {
      remaining += std::string(line) + "\n";
    }
  }
  PASSNET_CHECK(next == positions.end(), "only records that were there when the file was opened are superseded");
  PASSNET_TRY(LineFile superseded, LineFile::open(path_.parent_path() / record::kSupersededFile, true));
  for (const std::string_view line : moved) PASSNET_TRY_VOID(superseded.append(line));
  PASSNET_TRY_VOID(write_file(path_, remaining));
  PASSNET_TRY(RecordFile rest, open(path_, true));
  rest.previous_ = std::move(previous_);
  *this = std::move(rest);
  return {};
}

}  // namespace passnet::run
