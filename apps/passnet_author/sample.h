// One sample of `passnet author`: written, judged, and what is made of what stays.
#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "author/forms/forms.h"
#include "author/judge/judge.h"
#include "author/reach/reach.h"
#include "base/json/json.h"
#include "base/result.h"
#include "examples.h"
#include "graphdir/sample.h"

namespace passnet::cli {

/// Types are inferred by one worker for all threads: it takes milliseconds where an evaluation takes seconds.
class SharedInference {
 public:
  Result<std::vector<author::Example>> load(const graphdir::Sample& sample) {
    const std::scoped_lock lock(mutex_);
    return load_examples(sample.graph_paths, sample.graph_names, inference_);
  }

 private:
  std::mutex mutex_;
  TypeInference inference_;
};

/// The graphs that passes are tried on beyond their sample. Matching may grow them, so it is one thread's at a time.
struct SharedOthers {
  std::mutex mutex;
  std::vector<author::OtherGraph> graphs;
};

struct AuthorSetup {
  std::filesystem::path out;
  author::Evaluate evaluate;                                    // empty: nothing is judged
  std::function<void(const std::string& step)> show_step = {};  // called by the thread of each sample
  double budget_s = 120;                                        // for a sample; 0: none
  bool on_gpu = false, allow_library = false;
  std::optional<author::Form> form;  // the only one that is written; none: all that may help
  bool search = false;               // for schedules that are faster
  std::filesystem::path export_to;   // empty: nothing is exported
  SharedOthers* others = nullptr;    // null: no reach is asked for
};

/// Its report (docs/schemas/author.json, an item), which is kept in the directory of the sample.
Result<Json> author_sample(const graphdir::Sample& sample, AuthorSetup setup, SharedInference& inference);

}  // namespace passnet::cli
