// One sample of `passnet author`: written, judged, and what is made of what stays.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "author/forms/forms.h"
#include "author/judge/judge.h"
#include "author/reach/reach.h"
#include "base/json/json.h"
#include "base/result.h"
#include "graphdir/sample.h"
#include "shared_inference.h"

namespace passnet::cli {

/// The graphs that passes are tried on beyond their sample. Matching may grow them, so it is one thread's at a time.
struct SharedOthers {
  std::mutex mutex;
  std::vector<author::OtherGraph> graphs;
};

struct AuthorSetup {
  std::filesystem::path out;
  author::Evaluate evaluate;                                    // empty: nothing is judged
  std::function<void(const std::string& step)> show_step = {};  // called by the thread of each sample
  std::function<void(const std::string& line)> say = {};        // a line that stays; the same
  double budget_s = 60;              // for a sample, or for each part of large graphs; 0: none
  bool resume = false;               // what is done in `out` is not made again
  int at_a_time = 1;                 // parts
  std::string name = {};             // of a part: WriteOptions::name
  size_t conversions = 0;            // of a part: Part::conversions
  std::set<std::string> taken = {};  // WriteOptions::taken
  bool on_gpu = false, allow_library = false;
  std::optional<author::Form> form;  // the only one that is written; none: all that may help
  bool search = false;               // for schedules that are faster
  std::filesystem::path export_to;   // empty: nothing is exported
  SharedOthers* others = nullptr;    // null: no reach is asked for
};

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Its report (docs/schemas/author.json, an item), which is kept in the directory of the sample. Passes for large graphs are
/// written and judged by parts (whole.h).
Result<Json> author_sample(const graphdir::Sample& sample, AuthorSetup setup, SharedInference& inference);

}  // namespace passnet::cli
