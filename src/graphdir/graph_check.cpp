#include "graphdir/graph_check.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/text/strings.h"
#include "fx/print.h"
#include "fx/syntax/lexer.h"
#include "fx/syntax/parser.h"
#include "graphdir/inputs/constraints.h"
#include "graphdir/inputs/meta.h"
#include "graphdir/inputs/replay.h"
#include "graphdir/sample.h"
#include "ir/ops/calls.h"
#include "ir/verify.h"

namespace passnet::graphdir {

namespace {

Error reads_back_different(std::string_view difference, const std::string& file) {
  return unsupported(fmt::format("what is printed of it reads back different: {}", difference), SourceLoc{file, 0, 0});
}

Error while_reading_back(const Error& error) { return Error(error).with_note("while reading back what was printed"); }

Result<void> check_model(const ir::Graph& graph) {
  const auto printed = std::make_shared<const std::string>(fx::print_model(graph));
  const Result<ir::Graph> again = fx::parse_model(graph.file + " (printed)", printed);
  if (!again) return while_reading_back(again.error());
  const std::string difference = first_difference(graph, *again);
  if (!difference.empty()) return reads_back_different(difference, graph.file);
  return {};
}

/// Reads what is there of the files beside model.py and checks one after the other.
class DirectoryCheck {
 public:
  DirectoryCheck(GraphDir& dir, GraphCheck& check) : dir_(dir), check_(check) {}

  Result<void> run() {
    PASSNET_TRY_VOID(read_records("weight_meta.py", dir_.weights));
    PASSNET_TRY_VOID(read_records("input_meta.py", dir_.inputs));
    PASSNET_TRY_VOID(read_constraints());
    check_.roundtrip = true;
    PASSNET_TRY_VOID(compare());
    PASSNET_TRY_VOID(check_description());
    return check_hash();
  }

 private:
  Result<std::string> read(std::string_view name, FileKind kind) {
    PASSNET_TRY(std::string text, read_beneath(dir_.path, name, kind));
    check_.total_bytes += text.size();
    return text;
  }

  Result<void> read_records(std::string_view name, std::vector<TensorMeta>& records) {
    const fs::path file = dir_.path / name;
    if (!entry_exists(file)) return {};
    PASSNET_TRY(const std::string text, read(name, FileKind::Graph));
    PASSNET_TRY(records, parse_meta(file.string(), text));
    const auto again = parse_meta(file.string() + " (printed)", print_meta(records));
    if (!again) return while_reading_back(again.error());
    for (size_t i = 0; i < std::max(records.size(), again->size()); ++i) {
      if (i < records.size() && i < again->size() && equal(records[i], (*again)[i])) continue;
      return reads_back_different(fmt::format("record {}", i), file.string());
    }
    return {};
  }

  Result<void> read_constraints() {
    constexpr std::string_view kName = "input_tensor_constraints.py";
    const fs::path file = dir_.path / kName;
    if (!entry_exists(file)) return {};
    PASSNET_TRY(const std::string text, read(kName, FileKind::Graph));
    PASSNET_TRY(constraints_, parse_constraints(file.string(), text));
    const auto again = parse_constraints(file.string() + " (printed)", print_constraints(constraints_));
    if (!again) return while_reading_back(again.error());
    if (!equal(constraints_, *again)) return reads_back_different("a shape or a relation", file.string());
    return {};
  }

  Result<void> compare() {
    const bool has_weights = entry_exists(dir_.path / "weight_meta.py");
    if (has_weights || !dir_.inputs.empty()) PASSNET_TRY_VOID(match_records(dir_));
    if (!has_weights && dir_.graph.placeholder_count() > 0) check_.missing.push_back("weight_meta.py");
    std::vector<const TensorMeta*> records;
    for (const auto* list : {&dir_.weights, &dir_.inputs}) {
      for (const TensorMeta& record : *list) {
        PASSNET_TRY_VOID(check_record(record));
        records.push_back(&record);
      }
    }
    return verify_constraints(constraints_, dir_.graph, records);
  }

  Result<void> check_description() {
    const fs::path file = dir_.path / "graph_net.json";
    if (!entry_exists(file)) return {};
    PASSNET_TRY(const std::string text, read("graph_net.json", FileKind::Facts));
    PASSNET_TRY_VOID(check_description_text(file.string(), text));
    return {};
  }

  Result<void> check_hash() {
    const fs::path file = dir_.path / "graph_hash.txt";
    if (!entry_exists(file)) return {};
    PASSNET_TRY(const std::string text, read("graph_hash.txt", FileKind::Line));
    const std::string_view hash = trim(text);
    if (hash.size() != 64 || hash.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
      return bad_input(fmt::format("found {}, expected 64 lower-case hex digits", quoted(hash)),
                       SourceLoc{file.string(), 1, 1});
    }
    check_.has_hash = true;
    check_.hash_rule = find_hash_rule(dir_.graph, hash);
    return {};
  }

  GraphDir& dir_;
  GraphCheck& check_;
  Constraints constraints_;
};

}  // namespace

Result<void> check_description_text(const std::string& file, std::string_view text) {
  PASSNET_TRY(const Json json, parse_json(text, file));
  const SourceLoc at{file, 0, 0};
  if (!json.is_object()) return bad_input(fmt::format("found a JSON {}, expected an object", json.type_name()), at);
  const auto framework = json.find("framework");
  if (framework == json.end() || *framework == "torch") return {};
  return bad_input(fmt::format("found the framework {}, expected \"torch\"",
                               framework->is_string() ? quoted(framework->get_ref<const std::string&>())
                                                      : std::string(framework->type_name())),
                   at)
      .with_hint("graphs of other frameworks are not read");
}

GraphCheck check_graph(const fs::path& path) {
  GraphCheck check;
  check.path = path.string();
  Result<ir::Graph> graph = fx::load_model(path.string());
  if (!graph) {
    check.error = graph.error();
    return check;
  }
  check.nodes = graph->size();
  check.size_bytes = check.total_bytes = graph->source->size();
  const auto checked = [&]() -> Result<void> {
    PASSNET_TRY_VOID(verify(*graph));
    check.parsed = true;
    PASSNET_TRY_VOID(check_model(*graph));
    PASSNET_TRY_VOID(ir::check_calls(*graph));
    const std::optional<fs::path> directory = graph_directory(path);
    if (!directory) {
      check.roundtrip = true;
      return {};
    }
    GraphDir dir;
    dir.path = *directory;
    dir.graph = std::move(*graph);
    return DirectoryCheck(dir, check).run();
  }();
  if (!checked) check.error = checked.error();
  return check;
}

void CheckSummary::add(const GraphCheck& check) {
  ++graphs;
  parsed += check.parsed ? 1 : 0;
  roundtrip += check.roundtrip ? 1 : 0;
  total_bytes += check.total_bytes;
  if (check.error) return failed.push_back({check.path, to_string(*check.error)});
  without_records += check.missing.empty() ? 0 : 1;
  if (!check.hash_rule) {
    ++(check.has_hash ? hash_different : hash_absent);
    return;
  }
  ++hash_equal;
  ++hash_rules[*check.hash_rule];
}

Json to_json(const CheckSummary& summary) {
  Json rules = Json::object(), failed = Json::array();
  for (const auto& [rule, count] : summary.hash_rules) rules[std::string(name(rule))] = count;
  for (const CheckSummary::Failure& failure : summary.failed)
    failed.push_back({{"path", failure.path}, {"error", failure.error}});
  return {{"graphs", summary.graphs},
          {"parsed", summary.parsed},
          {"roundtrip", summary.roundtrip},
          {"hash_equal", summary.hash_equal},
          {"hash_different", summary.hash_different},
          {"hash_absent", summary.hash_absent},
          {"hash_rules", std::move(rules)},
          {"without_records", summary.without_records},
          {"failed", std::move(failed)}};
}

}  // namespace passnet::graphdir
