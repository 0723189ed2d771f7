// parse_benchmark DIR…: reads every model.py at or below the directories into memory, then times parse_model
// over all of them on one core. Prints one JSON line: files, bytes, and megabytes (10^6 bytes) per second:
// the median of the rounds and the best.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "fx/graph_walk.h"
#include "fx/parser.h"

namespace passnet::fx {
namespace {

constexpr int kRounds = 15;

using Text = std::shared_ptr<const std::string>;

Result<std::vector<Text>> load_texts(const std::vector<std::string>& paths) {
  std::vector<Text> texts;
  GraphWalk walk(paths);
  while (const auto found = walk.next()) {
    if (found->error) return *found->error;
    PASSNET_TRY(const ir::Graph graph, load_model(found->path.string()));
    texts.push_back(graph.source);
  }
  return texts;
}

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Seconds to parse all texts once.
Result<double> measure_round(const std::vector<Text>& texts) {
  const double start = processor_seconds();
  for (const Text& text : texts) {
    PASSNET_TRY(const ir::Graph graph, parse_model("model.py", text));
    if (graph.size() == 0) return bad_input("an empty graph");
  }
  return processor_seconds() - start;
}

Result<void> run(const std::vector<std::string>& paths) {
  PASSNET_TRY(const std::vector<Text> texts, load_texts(paths));
  size_t bytes = 0;
  for (const Text& text : texts) bytes += text->size();
  std::vector<double> rates;
  for (int round = 0; round < kRounds; ++round) {
    PASSNET_TRY(const double seconds, measure_round(texts));
    rates.push_back(static_cast<double>(bytes) / seconds / 1e6);
  }
  std::ranges::sort(rates);
  fmt::print("{{\"files\": {}, \"bytes\": {}, \"median_mb_per_s\": {:.1f}, \"best_mb_per_s\": {:.1f}}}\n",
             texts.size(), bytes, rates[rates.size() / 2], rates.back());
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
