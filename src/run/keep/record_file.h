// A sample's records.jsonl while it grows: whole lines, one writer, chained (record/chain.h).
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file/line_file.h"
#include "base/result.h"
#include "record/chain.h"
#include "record/record.h"
#include "record/session.h"

namespace passnet::run {

class RecordFile {
 public:
  /// path: RUN/SAMPLE/records.jsonl; keep: go on with what is there, which must hold against the run's sessions.
  /// Errors: as LineFile::open; with keep also as load_sessions, record::check_chain and record::first_problem.
  static Result<RecordFile> open(const std::filesystem::path& path, bool keep);
  const std::vector<record::RunRecord>& records() const { return records_; }
  /// The last record ever written.
  const record::Seal& end() const { return end_; }
  /// What a session has to say of these records (positions in records()) when it sets them aside.
  std::vector<record::Session::SetAside> describe(const std::vector<size_t>& positions) const;
  /// The lines of records without a place in the chain.
  std::vector<std::string> unchained() const;
  /// What is set aside already, by a session that was ended before it had moved them.
  bool is_left_behind(size_t position) const { return left_behind_.at(position); }

  /// The session whose line has this hash has begun here. Before, records get no place in the chain.
  void begin(std::string session);
  /// Errors: as LineFile::append.
  Result<void> append(record::RunRecord record);
  /// Moves the records at these positions (ascending) to records.superseded.jsonl beside the file, as they were
  /// written. They are there before they go here, and both files are whole at any time. REQUIRES: nobody else writes to
  /// the directory.
  Result<void> supersede(const std::vector<size_t>& positions);

 private:
  RecordFile(LineFile lines, std::filesystem::path path) : lines_(std::move(lines)), path_(std::move(path)) {}

  LineFile lines_;
  std::filesystem::path path_;
  std::vector<record::RunRecord> records_;
  std::vector<std::string> hashes_;  // of the lines, by record
  std::vector<bool> left_behind_;
  record::Seal end_;
  std::string previous_;  // what the next line follows; empty: nothing has begun
};

/// The lines of RUN/run.jsonl; none where there is no such file. Errors: Io; as record::sessions_from_text.
Result<std::vector<record::SessionLine>> load_sessions(const std::filesystem::path& run);

}  // namespace passnet::run
