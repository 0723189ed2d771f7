// check_benchmark DIR…: how fast graphs are checked, on one core. Prints one JSON line, rates in megabytes
// (10^6 bytes) per second of processor time, medians of the rounds:
//   model_mb_per_s   bytes of model.py, from memory: parse, verify, print, parse what was printed, compare
//   full_mb_per_s    bytes of all files, from disk: what `passnet graph check` does, hash included
//   left_out         graphs that it refuses, as a file is missing
//   peak_over_text   most heap in use while one model is checked, over the size of its text: the worst of all
//   models of
//                    at least 64 KiB
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "fx/print.h"
#include "graphdir/graph_check.h"
#include "ir/verify.h"
#include "texts.h"

namespace {
// Bytes of the heap that are in use, and the most since it was reset.
size_t in_use = 0, peak = 0;

void* count_new(size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  in_use += ::malloc_usable_size(memory);
  peak = std::max(peak, in_use);
  return memory;
}

void count_delete(void* memory) noexcept {
  if (memory != nullptr) in_use -= ::malloc_usable_size(memory);
  std::free(memory);
}
}  // namespace

void* operator new(size_t size) { return count_new(size); }
void operator delete(void* memory) noexcept { count_delete(memory); }
void operator delete(void* memory, size_t) noexcept { count_delete(memory); }

namespace passnet::fx {
namespace {

constexpr int kRounds = 9;
constexpr size_t kLargeText = 65536;  // below, fixed costs count for more than the text

Result<void> check_text(const Model& model) {
  PASSNET_TRY(const ir::Graph graph, parse_model("model.py", model.text));
  PASSNET_TRY_VOID(verify(graph));
  const auto printed = std::make_shared<const std::string>(print_model(graph));
  PASSNET_TRY(const ir::Graph again, parse_model("printed.py", printed));
  if (!equal(graph, again)) return unsupported("the printed graph reads back different");
  return {};
}

/// Median over the rounds of bytes per second, in 10^6. round: () -> Result<size_t>, the bytes it went over.
template <class Round>
Result<double> measure(Round&& round) {
  std::vector<double> rates;
  for (int i = 0; i < kRounds; ++i) {
    const double start = processor_seconds();
    PASSNET_TRY(const size_t bytes, round());
    rates.push_back(static_cast<double>(bytes) / (processor_seconds() - start) / 1e6);
  }
  std::ranges::sort(rates);
  return rates[rates.size() / 2];
}

Result<double> worst_peak(const std::vector<Model>& models) {
  double worst = 0;
  for (const Model& model : models) {
    const size_t before = peak = in_use;
    PASSNET_TRY_VOID(check_text(model));
    if (model.text->size() < kLargeText) continue;
    worst = std::max(worst, static_cast<double>(peak - before) / static_cast<double>(model.text->size()));
  }
  return worst;
}

Result<void> run(const std::vector<std::string>& paths) {
  PASSNET_TRY(const std::vector<Model> models, load_models(paths));
  PASSNET_TRY(const double worst, worst_peak(models));
  PASSNET_TRY(const double model_rate, measure([&]() -> Result<size_t> {
                for (const Model& model : models) PASSNET_TRY_VOID(check_text(model));
                return total_bytes(models);
              }));
  size_t full_bytes = 0, left_out = 0;  // bytes; graphs without a file that they need
  PASSNET_TRY(const double full_rate, measure([&]() -> Result<size_t> {
                full_bytes = left_out = 0;
                for (const Model& model : models) {
                  const graphdir::GraphCheck check = graphdir::check_graph(model.path);
                  left_out += check.error ? 1 : 0;
                  full_bytes += check.total_bytes;
                }
                return full_bytes;
              }));
  fmt::print(
      "{{\"files\": {}, \"bytes\": {}, \"model_mb_per_s\": {:.1f}, \"full_bytes\": {}, \"full_mb_per_s\": "
      "{:.1f}, \"left_out\": {}, \"peak_over_text\": {:.1f}}}\n",
      models.size(), total_bytes(models), model_rate, full_bytes, full_rate, left_out, worst);
  return {};
}

}  // namespace
}  // namespace passnet::fx

int main(int count, char** args) {
  if (count < 2) {
    fmt::print(stderr, "usage: check_benchmark DIR…\n");
    return 2;
  }
  const auto status = passnet::fx::run({args + 1, args + count});
  if (!status) fmt::print(stderr, "{}\n", to_string(status.error()));
  return status ? 0 : 3;
}
