// What the reading benchmarks share: the models at or below some directories, and the clock.
#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "fx/syntax/parser.h"
#include "graphdir/graph_walk.h"

namespace passnet::fx {

struct Model {
  std::filesystem::path path;  // graph directory
  std::shared_ptr<const std::string> text;
};

/// The texts of all models, read into memory. Errors: of the first one that is not in order.
inline Result<std::vector<Model>> load_models(const std::vector<std::string>& paths) {
  std::vector<Model> models;
  graphdir::GraphWalk walk(paths);
  while (const auto found = walk.next()) {
    if (found->error) return *found->error;
    PASSNET_TRY(const ir::Graph graph, load_model(found->path.string()));
    models.push_back({found->path, graph.source});
  }
  return models;
}

inline size_t total_bytes(const std::vector<Model>& models) {
  size_t bytes = 0;
  for (const Model& model : models) bytes += model.text->size();
  return bytes;
}

/// Seconds of processor time of this thread.
inline double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace passnet::fx
