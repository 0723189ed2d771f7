// What `passnet eval` promises before it builds or runs anything: a line of RUN/run.jsonl. It freezes the passes, commits
// to the seed that is not told yet, and says where the records of each sample go on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/provenance.h"

namespace passnet::record {

/// In the directory of a run,
inline constexpr const char* kSessionsFile = "run.jsonl";
/// and in those of its samples.
inline constexpr const char* kRecordsFile = "records.jsonl";
inline constexpr const char* kSupersededFile = "records.superseded.jsonl";
inline constexpr const char* kScoreFile = "aggregated_score.json";

struct Session {
  /// A record that the session sets aside: its line, wherever that lies then.
  struct SetAside {
    std::string graph;
    int64_t number = 0;  // Link::number; 0: it had no place in the chain
    std::string sha256;  // of the line
    bool operator==(const SetAside&) const = default;
  };
  struct Sample {
    std::string name;
    std::vector<std::string> graphs;     // to be evaluated
    Provenance::Hashes passes, kernels;  // as they are when the session begins
    int64_t records = 0;                 // Link::number of the last record before the session; 0: none
    std::string head;                    // SHA-256 of its line; empty: none
    std::vector<SetAside> superseded;
    std::vector<std::string> unchained;  // SHA-256 of the lines that stay and have no place in the chain
    bool operator==(const Sample&) const = default;
  };

  /// One of the runs that `passnet merge` joined.
  struct Part {
    int64_t sessions = 0;              // lines of its run.jsonl
    std::string head;                  // SHA-256 of the last of them
    std::vector<std::string> samples;  // those whose records were taken
    bool operator==(const Part&) const = default;
  };

  int version = 1;
  int64_t number = 1;           // of the line, from 1
  std::string previous;         // SHA-256 of the line before; empty for the first
  std::string started;          // ISO 8601, UTC
  bool seed_given = false;      // by --seed
  uint64_t seed = 0;            // when it was given
  std::string seed_commitment;  // when not: seed_commitment() of seed and nonce, which the records tell
  std::vector<Sample> samples;  // in which it has something to do
  std::string shard;            // "2/8": of the list that the run was given; empty: all of it
  std::vector<Part> merged;     // of a line that joins runs: these, whose lines stand before it; else empty
  bool operator==(const Session&) const = default;

  const Sample* find(std::string_view name) const;
};

/// SHA-256 of "SEED:NONCE", the seed in decimal digits. Without the nonce nobody finds the seed by trying all.
std::string seed_commitment(uint64_t seed, const std::string& nonce);

/// One line, without its end.
std::string session_line(const Session& session);

/// A line of run.jsonl and its hash, which the records that follow it carry.
struct SessionLine {
  Session session;
  std::string sha256;
};
/// run.jsonl from its text; a torn last line is skipped. A merged run has the lines of its parts one behind the other,
/// then one that joins them; sessions of a part then name only the samples that were taken of it. file: as messages name
/// it.
/// Errors: BadInput with its line: not a session, or not the one that followed the line before (it was edited, moved,
/// doubled or dropped).
Result<std::vector<SessionLine>> sessions_from_text(std::string_view text, const std::string& file);

}  // namespace passnet::record
