// passnet pass new: a pass to start from, a template or the passes of a graph.
#include "new.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "author/write.h"
#include "base/file/paths.h"
#include "base/json/json.h"
#include "base/text/strings.h"
#include "base/usage.h"
#include "command.h"
#include "examples.h"
#include "external_commands.h"
#include "graphdir/sample.h"
#include "options.h"
#include "pass/source.h"
#include "pass/template.h"
#include "rewrite/match.h"
#include "solution.h"

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
    return usage_error(fmt::format("--range {}: expected FIRST:END, two numbers", quoted(text)))
        .with_hint("0:3 takes the first three operators");
  return Range(range);
}

// A graph, or the graphs of a sample.
Result<std::vector<std::filesystem::path>> graphs_of(const std::string& path) {
  if (const auto directory = graphdir::graph_directory(path); directory && path_exists(*directory / "model.py"))
    return std::vector{*directory};
  PASSNET_TRY(const graphdir::Sample sample, graphdir::load_sample(path));
  return sample.graph_paths;
}

size_t operators_of(const ir::Graph& graph) {
  return graph.size() - graph.placeholder_count() -
         static_cast<size_t>(
             std::ranges::count(graph.nodes(), ir::NodeKind::Output, [](const ir::Node& node) { return node.kind; }));
}

Result<void> check_range(const Range& range, const std::vector<author::Example>& examples) {
  if (!range) return {};
  const size_t most = operators_of(examples[0].graph);
  if (range->first < range->second && range->second <= most) return {};
  return bad_input(fmt::format("range {}:{} of a graph of {} operators", range->first, range->second, most))
      .with_hint(fmt::format("the first operator and one past the last, counted from 0: 0:{} is all of it", most));
}

/// Graphs that one of the passes matches in.
Result<size_t> count_matched(const std::filesystem::path& directory, const author::Authored& authored,
                             std::vector<author::Example>& examples) {
  std::vector<pass::Pass> passes;
  for (const author::Written& one : authored.passes) {
    PASSNET_TRY(pass::Pass pass, pass::load_pass(directory / (one.name + ".py")));
    passes.push_back(std::move(pass));
  }
  size_t matched = 0;
  for (author::Example& example : examples) {
    rewrite::PreparedGraph prepared(example.graph);
    Budget steps(rewrite::kMatching, {rewrite::kMostMatchTime, &interrupted()});
    bool matches = false;
    for (const pass::Pass& pass : passes) {
      PASSNET_TRY(const rewrite::MatchReport found, rewrite::find_matches(pass.pattern, prepared, steps));
      matches = matches || !found.matches.empty();
    }
    matched += matches ? 1 : 0;
  }
  return matched;
}

/// What the new passes are made of, and what they do to the graphs that they were written for.
Json report(const author::Authored& authored, size_t matched, size_t graphs) {
  Json json{{"passes", Json::array()}, {"matched", matched}, {"graphs", graphs}, {"left_out", Json::array()}};
  for (const author::Written& one : authored.passes)
    json["passes"].push_back({{"pass", one.name}, {"operators", one.operators}, {"kernels", one.kernels}});
  for (const author::NotWritten& left : authored.left)
    json["left_out"].push_back({{"statement", left.statement}, {"why", left.why}});
  return json;
}

void say_left_out(const Json& json) {
  std::vector<std::pair<std::string, std::vector<std::string>>> left_out;  // statements by reason
  for (const Json& left : json["left_out"]) {
    const std::string why = plain_text(left["why"]);
    auto known = std::ranges::find(left_out, why, &std::pair<std::string, std::vector<std::string>>::first);
    if (known == left_out.end()) known = left_out.insert(known, {why, {}});
    known->second.push_back(plain_text(left["statement"]));
  }
  for (const auto& [why, statements] : left_out) {
    const size_t shown = std::min<size_t>(statements.size(), 3);
    for (size_t i = 0; i < shown; ++i) say("left out: {}\n", statements[i]);
    if (shown < statements.size()) say("left out: {} more\n", statements.size() - shown);
    say("  {}\n", why);
  }
}

void say_report(const Json& json) {
  for (const Json& one : json["passes"])
    say("{}: {} as {}\n", plain_text(one["pass"]), counted(one["operators"].get<size_t>(), "operator"),
        counted(one["kernels"].get<size_t>(), "kernel"));
  say_left_out(json);
  say("matches {} of {} graphs\n", json["matched"].get<size_t>(), json["graphs"].get<size_t>());
}

Error nothing_written(const std::string& from, const author::Authored& authored) {
  Error error = unsupported(fmt::format("no kernel can be written for {}; nothing was written", quoted(from)));
  for (const author::NotWritten& left : authored.left)
    error = std::move(error).with_note(fmt::format("{}: {}", left.statement, left.why));
  return std::move(error).with_hint("without --from the command writes a template");
}

/// The sample that holds a pass_dir; none: a directory of another name.
std::optional<std::filesystem::path> sample_of(const std::string& pass_dir) {
  const std::filesystem::path directory = std::filesystem::path(pass_dir).lexically_normal();
  if (directory.filename() != "pass_dir" || !directory.has_parent_path()) return std::nullopt;
  return directory.parent_path();
}

// Ends the command: what was written, and what to run next.
ExitCode tell(const NewFlags& flags, const std::vector<std::filesystem::path>& written, Json json) {
  if (flags.json) {
    for (const std::filesystem::path& path : written) json["written"].push_back(path.string());
    print_result(dump(json) + "\n");
  }
  // A pass_dir in a sample is checked with the sample's graphs.
  const std::filesystem::path directory = std::filesystem::path(flags.directory).lexically_normal();
  print_next(fmt::format("passnet pass check {}", sample_of(flags.directory).value_or(directory).string()));
  return kOk;
}

/// A pass of a solution, and graphs of its workloads.
Result<ExitCode> new_from_solution(const NewFlags& flags) {
  if (!flags.range.empty())
    return usage_error("--range is for graphs, and --from names a solution").with_hint("leave --range away");
  PASSNET_TRY(const FromSolution made,
              from_solution(flags.from, flags.name, flags.directory, sample_of(flags.directory)));
  Json json{{"graphs", made.graphs}, {"left_out", Json::array()}};
  for (const auto& [what, why] : made.left) json["left_out"].push_back({{"statement", what}, {"why", why}});
  if (!flags.json) {
    for (const std::filesystem::path& path : made.written) say("wrote {}\n", path.string());
    say_left_out(json);
  }
  return tell(flags, made.written, std::move(json));
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
  if (flags.from.ends_with(".json")) return new_from_solution(flags);
  PASSNET_TRY(const Range range, parse_range(flags.range));
  PASSNET_TRY(const std::vector<std::filesystem::path> paths, graphs_of(flags.from));
  std::vector<std::string> names;
  for (const std::filesystem::path& path : paths) names.push_back(path.filename().string());
  TypeInference inference;
  PASSNET_TRY(std::vector<author::Example> examples, load_examples(paths, names, inference));
  PASSNET_TRY_VOID(check_range(range, examples));
  author::WriteOptions options;
  options.name = flags.name;
  options.range = range;
  const author::Authored authored = author::write_all(examples, options);
  if (authored.passes.empty()) return nothing_written(flags.from, authored);
  PASSNET_TRY(const auto written, pass::write_passes(flags.directory, author::texts_of(authored)));
  show(written);
  PASSNET_TRY(const size_t matched, count_matched(flags.directory, authored, examples));
  Json made = report(authored, matched, examples.size());
  if (!flags.json) say_report(made);
  return tell(flags, written, std::move(made));
}

}  // namespace

void add_pass_new(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<NewFlags>();
  CLI::App* command = add_command(app, kPassNew);
  command->add_option("NAME", flags->name, "pass name")->required();
  command->add_option("DIR", flags->directory, "pass_dir to write into")->capture_default_str();
  CLI::Option* from = command->add_option("--from", flags->from,
                                          "graph or sample directory: write working passes NAME, NAME_2, … for it, as "
                                          "'passnet author' does; or a solution of FlashInfer-Trace (.json): a pass of "
                                          "it, and graphs of its workloads; default: a template (add and relu)");
  command
      ->add_option("--range", flags->range,
                   "FIRST:END, operators to use, numbers as of 'graph show --numbers'; END is not included")
      ->needs(from);
  add_json_flag(*command, flags->json);
  command->footer(
      "Examples:  passnet pass new fuse_add_relu my_sample/pass_dir\n"
      "           passnet pass new my_pass my_sample/pass_dir --from my_sample\n"
      "           passnet pass new rms norm/pass_dir --from trace/solutions/me/rmsnorm/rmsnorm_h128/fast.json");
  command->callback([flags, &exit_code] {
    catch_interrupts();
    exit_code = finish(new_pass(*flags));
  });
}

}  // namespace passnet::cli
