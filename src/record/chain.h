// The chain of a sample's records: each line carries the SHA-256 of the line before it, the first of a session that of
// the session (record/session.h). So a line that is edited, moved, doubled or dropped afterwards is found, and named.
// Who may write every file of a run can write another chain: it proves what a run was against a head kept elsewhere.
// docs/records.md, "The chain", has the rules.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/record.h"
#include "record/session.h"

namespace passnet::record {

/// What aggregated_score.json says of the records it was made of.
struct Seal {
  int64_t records = 0;  // Link::number of the last
  std::string head;     // SHA-256 of its line
  bool operator==(const Seal&) const = default;
};

/// A sample's records.jsonl, and what there is to check it against.
struct ChainInput {
  std::string sample, file;                  // its name; how messages name records.jsonl
  Lines lines;                               // of records.jsonl
  const std::vector<SessionLine>* sessions;  // of the run; not null
  Seal seal = {};                            // of no records: nobody says
};

/// A line of records.jsonl that is a record. Small: a reader keeps one for each record of a file.
struct ChainLine {
  uint32_t number = 0;  // in the file, from 1
  std::string graph;
  std::array<char, 64> sha256_digits{};
  bool has_link = false, follows_line_before = false;
  int64_t place = 0;              // Link::number
  std::string previous;           // Link::previous; empty where it is the hash of the line before
  std::optional<size_t> session;  // that it was written in, by position; none: it has no place in the chain
  std::string_view sha256() const { return {sha256_digits.data(), sha256_digits.size()}; }
};

struct Chain {
  std::deque<ChainLine> lines;  // one for each record, in the order of the file
  size_t unchained = 0;         // records of versions that wrote no chain
  Seal end;                     // the last record ever written, here or set aside; 0 and empty: none
  /// Records that a session set aside and was ended before it moved them, by position; a problem each.
  std::vector<size_t> left_behind;
  std::vector<Error> problems;  // BadInput each, in the order of lines; empty: the chain holds
};

/// use: takes each record, in the order of the file; nothing of it is kept but its line in the chain.
/// Errors: those of the lines; BadInput with its line: no record.
Result<Chain> check_chain(const ChainInput& input, const std::function<void(RunRecord record)>& use);

/// The first problem, with how many more there are; nothing where the chain holds.
Result<void> first_problem(const Chain& chain);

}  // namespace passnet::record
