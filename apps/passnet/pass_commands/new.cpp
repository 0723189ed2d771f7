// passnet pass new: a pass to start from, a template or the pass of a graph.
#include "pass_commands/new.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "author/draft.h"
#include "base/json.h"
#include "base/strings.h"
#include "command.h"
#include "examples.h"
#include "graphdir/sample.h"
#include "options.h"
#include "pass/source.h"
#include "pass/template.h"
#include "rewrite/match.h"

namespace passnet::cli {

namespace {

struct NewFlags {
  std::string name, directory = ".", from, range;
  bool json = false;
};

using Range = std::optional<std::pair<size_t, size_t>>;

Result<Range> parse_range(const std::string& text) {
  if (text.empty()) return Range{};
  std::pair<size_t, size_t> range;
  const char *at = text.data(), *end = text.data() + text.size();
  const auto first = std::from_chars(at, end, range.first);
  const bool colon = first.ec == std::errc() && first.ptr != end && *first.ptr == ':';
  const auto second = colon ? std::from_chars(first.ptr + 1, end, range.second) : first;
  if (!colon || second.ec != std::errc() || second.ptr != end)
    return bad_input(fmt::format("--range {}: expected FIRST:END, two numbers", quoted(text)))
        .with_hint("0:3 takes the first three operators");
  return Range(range);
}

// A graph, or the graphs of a sample.
Result<std::vector<std::filesystem::path>> graphs_of(const std::string& path) {
  if (const auto directory = graphdir::graph_directory(path);
      directory && std::filesystem::exists(*directory / "model.py"))
    return std::vector{*directory};
  PASSNET_TRY(const graphdir::Sample sample, graphdir::load_sample(path));
  return sample.graph_paths;
}

// What the new pass does to the graphs it was written for.
Result<Json> report(const author::Draft& draft, const author::Subject& subject, const std::filesystem::path& pass_file,
                    std::vector<author::Example>& examples, bool text) {
  PASSNET_TRY(const pass::Pass pass, pass::load_pass(pass_file));
  size_t matched = 0;
  std::optional<rewrite::NearestMiss> miss;
  for (author::Example& example : examples) {
    PASSNET_TRY(const rewrite::MatchReport matches, rewrite::find_matches(pass.pattern, example.graph));
    matched += matches.matches.empty() ? 0 : 1;
    if (!miss) miss = matches.refused.empty() ? matches.miss : matches.refused[0];
  }
  Json json{{"taken", draft.taken}, {"operators", draft.of},     {"kernel_written", draft.is_written},
            {"matched", matched},   {"graphs", examples.size()}, {"left_out", Json::array()}};
  for (const author::LeftOut& left : draft.left_out)
    json["left_out"].push_back({{"statement", left.statement}, {"why", left.why}});
  if (!text) return json;
  say("takes {} of {} operators\n", draft.taken, draft.of);
  for (const author::LeftOut& left : draft.left_out)
    say("{}: {}\n  {}\n", draft.is_written ? "left out" : "not written", left.statement, left.why);
  for (const std::string& other : subject.others) say("not written for {}\n", other);
  say("matches {} of {} graphs\n", matched, examples.size());
  if (matched < examples.size() && miss) say("{}\n", Lines{rewrite::to_string(*miss)});
  if (!draft.is_written) say("the kernel is not written yet: its place in the .cpp and .cu says so until it is\n");
  return json;
}

// Ends the command: what was written, and what to run next.
ExitCode tell(const NewFlags& flags, const std::vector<std::filesystem::path>& written, Json json) {
  if (flags.json) {
    for (const std::filesystem::path& path : written) json["written"].push_back(path.string());
    print_result(dump(json) + "\n");
  }
  // A pass_dir in a sample is checked with the sample's graphs.
  const std::filesystem::path directory = std::filesystem::path(flags.directory).lexically_normal();
  const bool in_sample = directory.filename() == "pass_dir" && directory.has_parent_path();
  print_next(fmt::format("passnet pass check {}", (in_sample ? directory.parent_path() : directory).string()));
  return kOk;
}

Result<ExitCode> new_pass(const NewFlags& flags) {
  const auto show = [&](const std::vector<std::filesystem::path>& written) {
    if (flags.json) return;
    for (const std::filesystem::path& path : written) say("wrote {}\n", path.string());
  };
  if (flags.from.empty()) {
    PASSNET_TRY(const auto written, pass::write_template(flags.directory, flags.name));
    show(written);
    return tell(flags, written, Json::object());
  }
  PASSNET_TRY(const Range range, parse_range(flags.range));
  PASSNET_TRY(const std::vector<std::filesystem::path> paths, graphs_of(flags.from));
  std::vector<std::string> names;
  for (const std::filesystem::path& path : paths) names.push_back(path.filename().string());
  TypeInference inference;
  PASSNET_TRY(std::vector<author::Example> examples, load_examples(paths, names, inference));
  author::Subject subject = author::merge(examples);
  PASSNET_TRY(const author::Draft draft, author::draft_pass(subject, flags.name, range));
  PASSNET_TRY(const auto written, pass::write_pass(flags.directory, flags.name, {draft.python, draft.cpp, draft.cuda}));
  show(written);
  PASSNET_TRY(Json done, report(draft, subject, written[0], examples, !flags.json));
  return tell(flags, written, std::move(done));
}

}  // namespace

void add_pass_new(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<NewFlags>();
  CLI::App* command =
      group.add_subcommand("new", "write a pass to start from: Name.py, its kernels, and its line in the list file");
  command->add_option("NAME", flags->name, "pass name")->required();
  command->add_option("DIR", flags->directory, "pass_dir to write into")->capture_default_str();
  CLI::Option* from = command->add_option("--from", flags->from,
                                          "graph directory, or sample directory for all its graphs: writes a pass that "
                                          "takes as many of their operators as it can, right but slow; "
                                          "without it a template (add and relu)");
  command
      ->add_option("--range", flags->range,
                   "FIRST:END, the operators to take, counted from 0 in the order of 'graph show'; END is not taken")
      ->needs(from);
  add_json_flag(*command, flags->json);
  command->footer(
      "Examples:  passnet pass new fuse_add_relu my_sample/pass_dir\n"
      "           passnet pass new my_pass my_sample/pass_dir --from my_sample");
  command->callback([flags, &exit_code] {
    catch_interrupts();
    exit_code = finish(new_pass(*flags));
  });
}

}  // namespace passnet::cli
