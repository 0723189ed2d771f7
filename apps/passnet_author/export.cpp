#include "export.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/training/worked_example.h"
#include "base/file/file.h"
#include "base/file/paths.h"

namespace passnet::cli {

namespace {

fs::path line_file(const fs::path& directory, const std::string& sample) {
  return directory / "lines" / (sample + ".jsonl");
}

Result<std::map<std::string, std::string>> files_of(const fs::path& pass_dir) {
  std::map<std::string, std::string> files;
  PASSNET_TRY(const std::vector<fs::path> there, list_directory(pass_dir));
  for (const fs::path& file : there) {
    PASSNET_TRY(files[file.filename().string()], read_file(file, FileKind::Graph));
  }
  return files;
}

std::string outcome_of(const Json& pass) {
  std::string text = pass["kept"].is_null() ? "not measured" : plain_text(pass["why"]);
  for (const auto& [graph, why] : pass["declined"].items())
    text += fmt::format("; it declines {}: {}", graph, plain_text(why));
  return text;
}

std::string outcome_of(const Json& report, const AuthorSetup& setup) {
  if (report["score"].is_null()) return "nothing was measured";
  return fmt::format("score {:.3f} on {}, where eager is 1", report["score"].get<double>(),
                     setup.on_gpu ? "an NVIDIA GPU" : "a CPU");
}

}  // namespace

Result<void> export_sample(const graphdir::Sample& sample, const fs::path& pass_dir, const author::Authored& authored,
                           const Json& report, const AuthorSetup& setup) {
  agent::WorkedExample example{sample, setup.on_gpu, {}, {}, outcome_of(report, setup)};
  for (const Json& pass : report["passes"]) {
    if (pass["kept"].is_boolean() && !pass["kept"].get<bool>()) continue;
    const author::Written& written =
        *std::ranges::find(authored.passes, pass["pass"].get<std::string>(), &author::Written::name);
    example.passes.push_back({written.name, author::sentences(written.explained, written.saving()), outcome_of(pass)});
  }
  const fs::path text_file = setup.export_to / (sample.name + ".md");
  if (example.passes.empty()) {
    // What an earlier run exported is no example any more.
    std::error_code ignored;
    fs::remove(text_file, ignored);
    fs::remove(line_file(setup.export_to, sample.name), ignored);
    return {};
  }
  PASSNET_TRY(example.files, files_of(pass_dir));
  PASSNET_TRY(const std::string text, agent::example_markdown(example));
  PASSNET_TRY(const std::string line, agent::example_line(example));
  PASSNET_TRY_VOID(write_file(text_file, std::string_view(text)));
  return write_file(line_file(setup.export_to, sample.name), line + "\n");
}

Result<void> gather_lines(const std::vector<graphdir::Sample>& samples, const fs::path& directory) {
  std::string all;
  for (const graphdir::Sample& sample : samples) {
    const fs::path file = line_file(directory, sample.name);
    if (!path_exists(file)) continue;
    PASSNET_TRY(const std::string line, read_file(file, FileKind::Graph));
    all += line;
  }
  return write_file(directory / "examples.jsonl", std::string_view(all));
}

}  // namespace passnet::cli
