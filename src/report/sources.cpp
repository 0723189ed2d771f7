#include "report/sources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/file/file.h"
#include "base/json/json.h"

namespace passnet::report {

namespace {

std::string cut(std::string text, const fs::path& file) {
  if (text.size() <= kLongestText) return text;
  const size_t line = text.rfind('\n', kLongestText);
  const size_t end = line == std::string::npos ? kLongestText : line + 1;
  const auto left = std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n');
  text.resize(end);
  return text + fmt::format("… {} more lines in {}\n", left, file.string());
}

// "" when it is not there.
std::string text_at(const fs::path& out, const fs::path& file) {
  Result<std::string> text = read_beneath(out, file, FileKind::Kept);
  return text ? cut(std::move(*text), file) : "";
}

std::vector<PassFile> pass_files(const fs::path& out, const fs::path& directory) {
  std::vector<PassFile> files;
  std::error_code failed;
  for (fs::directory_iterator entry(out / directory, failed), end; !failed && entry != end; entry.increment(failed)) {
    const fs::path name = entry->path().filename();
    if (std::string text = text_at(out, directory / name); !text.empty())
      files.push_back({name.string(), std::move(text)});
  }
  // Name.py before Name.cpp: the plan says what the kernel is for.
  const auto order = [](const PassFile& file) {
    const fs::path name(file.name);
    return std::tuple(name.stem().string(), name.extension() != ".py", file.name);
  };
  std::ranges::sort(files, {}, order);
  return files;
}

std::string numbers_text(const Json& list) {
  std::vector<int64_t> numbers;
  for (const Json& number : list) numbers.push_back(number.get<int64_t>());
  return fmt::format("{}", fmt::join(numbers, ", "));
}

// An argument or a constant: a view, or one of int, float, bool, dtype.
std::string operand_text(const Json& value) {
  if (value.contains("shape"))
    return fmt::format("{} [{}]", value.at("dtype").get<std::string>(), numbers_text(value.at("shape")));
  for (const char* kind : {"int", "float", "bool", "dtype"}) {
    if (value.contains(kind)) return plain_text(value.at(kind));
  }
  return dump(value);
}

std::string one_launch_text(const Json& launch) {
  std::vector<std::string> grid, args;
  for (const Json& size : launch.at("grid")) grid.push_back(dump(size));
  for (const Json& arg : launch.at("args")) args.push_back(operand_text(arg));
  std::string text = fmt::format("  {}  grid {}, block {}", launch.at("kernel").get<std::string>(),
                                 fmt::join(grid, " x "), dump(launch.at("block")));
  for (const Json& constant : launch.at("constants"))
    text += fmt::format(", {}={}", constant.at("name").get<std::string>(), operand_text(constant));
  return text + fmt::format("\n    {}\n", fmt::join(args, ", "));
}

}  // namespace

std::string launch_text(const std::string& json) {
  const Result<Json> lists = parse_json(json, "launches");
  if (!lists || !lists->is_array()) return json;
  std::string text;
  try {
    for (size_t site = 0; site < lists->size(); ++site) {
      const Json& list = (*lists)[site];
      text += fmt::format("site {}, pass {}\n", site, list.at("pass").get<std::string>());
      for (const Json& launch : list.at("launches")) text += one_launch_text(launch);
    }
  } catch (const Json::exception&) {
    return json;
  }
  return text;
}

SampleSources load_sample_sources(const fs::path& out, const std::string& sample,
                                  const std::vector<std::string>& graphs) {
  SampleSources sources{pass_files(out, record::passes_directory(sample)), {}};
  if (!entry_exists(out / record::graphs_directory(sample))) return sources;
  for (const std::string& name : graphs) {
    const fs::path graph = record::graph_texts_directory(sample, name);
    record::GraphTexts texts{text_at(out, graph / record::kBeforeFile), text_at(out, graph / record::kAfterFile), ""};
    if (const Result<std::string> launches = read_beneath(out, graph / record::kLaunchesFile, FileKind::Kept))
      texts.launches = cut(launch_text(*launches), graph / record::kLaunchesFile);
    if (texts != record::GraphTexts{}) sources.graphs[name] = std::move(texts);
  }
  return sources;
}

Sources load_sources(const fs::path& out, const std::vector<record::RunRecord>& records) {
  std::map<std::string, std::vector<std::string>> graphs;
  for (const record::RunRecord& record : records) graphs[record.sample].push_back(record.graph);
  Sources sources;
  for (const auto& [sample, names] : graphs) sources.emplace(sample, load_sample_sources(out, sample, names));
  return sources;
}

}  // namespace passnet::report
