#include "dataset/decompose_journal.h"

#include "base/json/json_object.h"
#include "run/batch/job.h"

namespace passnet {

/// A row: kind, start, end, number, identity, written.
template <>
struct JsonForm<dataset::FoundRange> {
  static constexpr std::string_view kSeveral = "ranges";
  static Json write(const dataset::FoundRange& found) {
    return Json::array(
        {name(found.kind), found.range.start, found.range.end, found.number, found.identity, found.written});
  }
  static bool read(const Json& json, dataset::FoundRange& out) {
    std::string kind;
    const auto column = [&](size_t i, auto& value) {
      return JsonForm<std::remove_reference_t<decltype(value)>>::read(json[i], value);
    };
    if (!json.is_array() || json.size() != 6 || !column(0, kind)) return false;
    out.kind = graphdir::parse_kind(kind).value_or(graphdir::Kind::SoleOp);
    return column(1, out.range.start) && column(2, out.range.end) && column(3, out.number) && column(4, out.identity) &&
           column(5, out.written);
  }
};

template <>
struct JsonFields<dataset::JournalLine> {
  static constexpr std::string_view kName = "decomposed graph";
  static void visit(auto& field, auto& line) {
    field("graph", line.report.graph);
    field("shape", line.shape);
    field("pieces", line.report.pieces);
    field("written", line.report.written);
    field("left_out", line.report.left_out);
    field("seconds", line.report.seconds);
    field.if_set("error", line.report.error);
    field.if_set("not_measured", line.report.not_measured);
    field("rules", line.rules);
    field("found", line.found);
  }
};

}  // namespace passnet

namespace passnet::dataset {

Json to_json(const JournalLine& line) { return to_json_object(line); }

std::map<std::string, JournalLine> read_decompose_journal(std::string_view text) {
  return run::last_lines<JournalLine>(text, [](const JournalLine& line) { return line.report.graph; });
}

}  // namespace passnet::dataset
