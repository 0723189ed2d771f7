// parse_benchmark DIR…: reads every model.py at or below the directories into memory, then times parse_model
// over all of them on one core. Prints one JSON line: files, bytes, and megabytes (10^6 bytes) per second:
// the median of the rounds and the best.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "texts.h"

namespace passnet::fx {
namespace {

constexpr int kRounds = 15;

/// Seconds to parse all texts once.
Result<double> measure_round(const std::vector<Model>& models) {
  const double start = processor_seconds();
  for (const Model& model : models) {
    PASSNET_TRY(const ir::Graph graph, parse_model("model.py", model.text));
    if (graph.size() == 0) return bad_input("an empty graph");
  }
  return processor_seconds() - start;
}

Result<void> run(const std::vector<std::string>& paths) {
  PASSNET_TRY(const std::vector<Model> models, load_models(paths));
  const size_t bytes = total_bytes(models);
  std::vector<double> rates;
  for (int round = 0; round < kRounds; ++round) {
    PASSNET_TRY(const double seconds, measure_round(models));
    rates.push_back(static_cast<double>(bytes) / seconds / 1e6);
  }
  std::ranges::sort(rates);
  fmt::print("{{\"files\": {}, \"bytes\": {}, \"median_mb_per_s\": {:.1f}, \"best_mb_per_s\": {:.1f}}}\n",
             models.size(), bytes, rates[rates.size() / 2], rates.back());
  return {};
}

}  // namespace
}  // namespace passnet::fx

int main(int count, char** args) {
  if (count < 2) {
    fmt::print(stderr, "usage: parse_benchmark DIR…\n");
    return 2;
  }
  const auto status = passnet::fx::run({args + 1, args + count});
  if (!status) fmt::print(stderr, "{}\n", to_string(status.error()));
  return status ? 0 : 3;
}
