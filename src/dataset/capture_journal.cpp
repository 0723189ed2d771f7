#include "dataset/capture_journal.h"

#include <fmt/format.h>

#include "base/json/json_object.h"
#include "run/batch/job.h"

namespace passnet {

template <>
struct JsonFields<dataset::CaptureLine> {
  static constexpr std::string_view kName = "captured model";
  static void visit(auto& field, auto& line) {
    std::string status = line.captured ? "captured" : "failed";
    field("model", line.model);
    field("source", line.source);
    field.may_lack("status", status);
    field.or_null("cause", line.cause);
    field.or_null("message", line.message);
    field.may_lack("graphs", line.graphs);
    field.may_lack("shapes", line.shapes);
    field.may_lack("seconds", line.seconds);
    field.may_lack("peak_mb", line.peak_mb);
    field.or_null("library_version", line.library_version);
    field.or_null("torch_version", line.torch_version);
    field.or_null("licence", line.licence);
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(line)>>) line.captured = status == "captured";
  }
};

}  // namespace passnet

namespace passnet::dataset {

Json to_json(const CaptureLine& line) { return to_json_object(line); }
Result<CaptureLine> capture_line_from_json(const Json& json) { return from_json_object<CaptureLine>(json); }

std::string capture_key(std::string_view source, std::string_view model) { return fmt::format("{} {}", source, model); }

std::map<std::string, CaptureLine> read_capture_journal(std::string_view text) {
  auto lines =
      run::last_lines<CaptureLine>(text, [](const CaptureLine& line) { return capture_key(line.source, line.model); });
  for (auto& [key, line] : lines) line.earlier = true;
  return lines;
}

}  // namespace passnet::dataset
