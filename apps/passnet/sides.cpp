#include "sides.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text/strings.h"
#include "run/evaluate/candidate_kind.h"

namespace passnet::cli {

namespace {

/// A place in the list, and the words that it may hold.
struct Side {
  const char* name;
  std::vector<std::string_view> words;
};
const Side kSides[] = {{"candidate", {"passes", "eager", "inductor", run::kAotInductor}},
                       {"baseline", {"eager", "python"}},
                       {"second candidate", {"inductor"}}};

/// Returns the fault of the list; empty: it has none.
std::string check_sides(const std::string& text) {
  const std::vector<std::string_view> sides = split(text, ',');
  if (sides.size() > std::size(kSides))
    return fmt::format("expected CANDIDATE,BASELINE,SECOND at most, found {} sides", sides.size());
  for (size_t i = 0; i < sides.size(); ++i) {
    const Side& side = kSides[i];
    if (std::ranges::find(side.words, sides[i]) == side.words.end())
      return fmt::format("expected {} as {}, found {}", fmt::join(side.words, ", "), side.name, quoted(sides[i]));
  }
  return "";
}

}  // namespace

void add_sides_option(CLI::App& command, run::EvaluateOptions& options) {
  command
      .add_option_function<std::string>(
          "--sides",
          [&options](const std::string& text) {
            const std::vector<std::string_view> sides = split(text, ',');
            options.compiler = sides[0];
            options.baseline = sides.size() > 1 && sides[1] == "python" ? "python" : "";
            options.second_candidate = sides.size() > 2 ? "torch.compile" : "";
          },
          "CANDIDATE,BASELINE. Candidates: passes, eager, inductor (torch.compile), aotinductor; baselines: eager (run "
          "by PassNet), python (PyTorch from Python, as in PassBench). A third side, inductor, is timed beside them")
      ->check(CLI::Validator([](std::string& text) { return check_sides(text); }, ""))
      ->default_str("passes,eager");
}

}  // namespace passnet::cli
