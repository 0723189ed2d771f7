// Any text as one of the small files around graphs: a list of paths, a list of passes, graph_net.json.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "graphdir/graph_check.h"
#include "graphdir/path_list.h"
#include "pass/source.h"

namespace {

template <class T>
void check_error(const passnet::Result<T>& result) {
  if (!result && (!result.error().at || result.error().message.empty())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace passnet;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lines = graphdir::parse_path_list("list.txt", text, "graph directory");
  check_error(lines);
  if (lines) {
    uint32_t last = 0;
    for (const graphdir::PathLine& line : *lines) {
      if (line.text.empty() || line.line <= last) std::abort();
      last = line.line;
    }
  }
  check_error(pass::parse_pass_names("names.json", text));
  check_error(graphdir::check_description_text("graph_net.json", text));
  return 0;
}
