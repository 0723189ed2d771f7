// All runs of a site as one value: entries, tasks, and what each record says. Trial times are not kept.
#pragma once

#include <filesystem>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "site/estimate.h"
#include "store/digest.h"

namespace passnet::site {

/// Names of files and ids made of foreign names: letters, digits, '.', '_' and '-'. A name always has the same one, but
/// where two names of one kind would share theirs.
class Slugs {
 public:
  std::string of(const std::string& name);

 private:
  std::set<std::string> taken_;  // in small letters
};

/// An entry over the graphs of one kind and one element type, or over all.
struct Slice {
  std::string kind, dtype;  // empty: all
  size_t records = 0;
  record::Score score;
  record::Summary summary;
  double limit = 0;  // geometric mean of the shares of the machine's limit, of what is correct; 0: not known
};

struct Entry {
  std::string name, slug;
  std::filesystem::path run;  // as it was given
  std::string compiler, device, hardware, isolation, version, started;
  std::optional<double> dollars;  // that a language model cost; none: not known
  double seconds = 0;
  Estimate speed;  // of what is correct and was timed
  /// All kinds, then each of the board's; within each all element types, then each.
  std::vector<Slice> slices;
  size_t rank = 0;  // among entries of the same hardware, from 1
  std::map<std::string, size_t> headlines, left_out;
  std::list<store::Digest> digests;  // that tasks point to
  const Slice& all() const { return slices.front(); }
};

struct Graph {
  std::string name, slug, dtype;
  std::string kind;                                // in a dataset: "fusible"; empty: not known
  std::map<size_t, const store::Digest*> records;  // by entry
};

struct Task {
  std::string name, slug;
  std::vector<Graph> graphs;                      // by name
  std::map<size_t, std::filesystem::path> files;  // records.jsonl, by entry
};

struct Board {
  std::vector<Entry> entries;  // by hardware, then the best first
  std::vector<Task> tasks;     // by name
  std::vector<std::string> kinds, dtypes;
  size_t records = 0;
};

struct NamedRun {
  std::string name;
  std::filesystem::path path;
};
/// argument: a run, "NAME=RUN", or a directory of runs (the output of `passnet leaderboard score`), whose directories
/// are the names.
Result<std::vector<NamedRun>> runs_in(const std::string& argument);
/// The same for several arguments.
Result<std::vector<NamedRun>> runs_in(const std::vector<std::string>& arguments);

/// Errors: as store::read_digests.
Result<Board> load_board(const std::vector<NamedRun>& runs, size_t threads);

/// A record has a ratio: it counts, is correct, and was timed.
bool has_ratio(const store::Digest& digest);
/// Ratios of the graphs that have one, of a task, for an entry.
std::vector<double> ratios_of(const Task& task, size_t entry);

}  // namespace passnet::site
