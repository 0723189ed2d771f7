// Models of PyTorch's libraries -> whole graphs on disk. Workers that are Python with PyTorch build and trace them
// (docs/protocol.md, "Capturing"); which, in which order and what became of them is decided and kept here.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/shard.h"
#include "dataset/capture_journal.h"

namespace passnet::dataset {

struct CaptureOptions {
  std::string from;                // timm, torchvision, transformers, or FILE.py:function
  std::vector<std::string> match;  // names, with * and ?; empty: all
  size_t limit = 0;                // the first models that match; 0: all
  Shard shard = {};                // of these
  int shapes = 2;                  // of each model
  double timeout_s = 120;          // of one model, as memory_gb: what it may have beside the libraries
  double memory_gb = 8;
  bool resume = false;        // leave out models that stand in the journal
  bool retry_failed = false;  // with resume: but do those again that failed
  int jobs = 1;               // models at a time, each in a worker of its own
  const std::atomic<bool>* interrupted = nullptr;
  std::vector<std::string> worker = {};  // a program that captures, with its arguments; empty: Python, with ours
};

/// The names that capture() would go through, in their order.
/// Errors: BadInput: no such source, no name matches; Resource: no Python with PyTorch; Io.
Result<std::vector<std::string>> list_models(const CaptureOptions& options);

/// Captures models into OUT/SOURCE/MODEL/SHAPE, all graphs of one at once, and appends a line for each to
/// OUT/journal.jsonl. A model that failed has no graphs there afterwards. A pattern without a match is a model that
/// failed.
/// finished: called for each model in order, also for those that are left out.
/// Errors:   Io; BadInput: no such source; Resource: interrupted, no Python with PyTorch, another run writes to OUT.
Result<void> capture(const std::filesystem::path& out, const CaptureOptions& options,
                     const std::function<void(const CaptureLine&)>& finished);

}  // namespace passnet::dataset
