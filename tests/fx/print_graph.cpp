// print_graph OUT_DIR PATH…: reads each model.py and writes what print_model gives to OUT_DIR/<index>.py.
// print_graph OUT_DIR --random N: the same for N random graphs.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "base/file/file.h"
#include "fx/print.h"
#include "fx/syntax/parser.h"
#include "random_graph.h"

namespace {

bool write(const std::string& dir, int index, const passnet::ir::Graph& graph) {
  const auto status = passnet::write_file(fmt::format("{}/{}.py", dir, index), passnet::fx::print_model(graph));
  if (!status) fmt::print(stderr, "{}\n", to_string(status.error()));
  return status.has_value();
}

}  // namespace

int main(int count, char** args) {
  if (count >= 4 && std::string(args[2]) == "--random") {
    for (int i = 0; i < std::stoi(args[3]); ++i) {
      if (!write(args[1], i, passnet::fx::random_graph(static_cast<uint64_t>(i), 30))) return 1;
    }
    return 0;
  }
  for (int i = 2; i < count; ++i) {
    const auto graph = passnet::fx::load_model(args[i]);
    if (!graph) fmt::print(stderr, "{}\n", to_string(graph.error()));
    if (!graph || !write(args[1], i - 2, *graph)) return 1;
  }
  return 0;
}
