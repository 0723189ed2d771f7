#include "dataset/capture_journal.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "run/job.h"

namespace passnet::dataset {

namespace {

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

// Leaves `out` as it is where the key is missing or null.
template <class T>
void read_if_set(const Json& json, const char* key, T& out) {
  if (const auto found = json.find(key); found != json.end() && !found->is_null()) out = found->get<T>();
}

}  // namespace

Json to_json(const CaptureLine& line) {
  return {{"model", line.model},
          {"source", line.source},
          {"status", line.captured ? "captured" : "failed"},
          {"cause", or_null(line.cause)},
          {"message", or_null(line.message)},
          {"graphs", line.graphs},
          {"shapes", line.shapes},
          {"seconds", line.seconds},
          {"peak_mb", line.peak_mb},
          {"library_version", or_null(line.library_version)},
          {"torch_version", or_null(line.torch_version)},
          {"licence", or_null(line.licence)}};
}

void from_json(const Json& json, CaptureLine& line) {
  line.model = json.at("model");
  line.source = json.at("source");
  line.captured = json.value("status", "failed") == "captured";
  read_if_set(json, "cause", line.cause);
  read_if_set(json, "message", line.message);
  read_if_set(json, "graphs", line.graphs);
  read_if_set(json, "shapes", line.shapes);
  read_if_set(json, "seconds", line.seconds);
  read_if_set(json, "peak_mb", line.peak_mb);
  read_if_set(json, "library_version", line.library_version);
  read_if_set(json, "torch_version", line.torch_version);
  read_if_set(json, "licence", line.licence);
}

std::string capture_key(std::string_view source, std::string_view model) { return fmt::format("{} {}", source, model); }

std::map<std::string, CaptureLine> read_capture_journal(std::string_view text) {
  auto lines =
      run::last_lines<CaptureLine>(text, [](const CaptureLine& line) { return capture_key(line.source, line.model); });
  for (auto& [key, line] : lines) line.earlier = true;
  return lines;
}

}  // namespace passnet::dataset
