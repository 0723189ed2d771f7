#include "dataset/official/piece_records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/text/strings.h"
#include "fx/print.h"

namespace passnet::dataset::official {

namespace {

/// Tensors of fewer elements are recorded element by element.
constexpr int64_t kSmallTensor = 64;

// Figures of a value that the model computes.
void describe(const ir::TensorType& type, const std::optional<ir::Statistics>& measured, graphdir::TensorMeta& meta) {
  const ir::Statistics statistics = measured.value_or(ir::Statistics{});
  if (ir::is_floating(type.dtype)) {
    meta.mean = statistics.mean.value_or(0.0);
    meta.stddev = statistics.stddev.value_or(1.0);
    meta.float_data = statistics.float_data;
    return;
  }
  meta.int_data = statistics.integer_data;
  if (!ir::is_integral(type.dtype) || type.numel() < kSmallTensor || !statistics.min || !statistics.max) return;
  meta.int_data.reset();
  meta.min_value = static_cast<double>(*statistics.min);
  meta.max_value = static_cast<double>(*statistics.max);
}

std::string figure(double value, int decimals) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  return fmt::format("{:.{}f}", value, decimals);
}

std::string bound(double value) {
  return std::trunc(value) == value && std::abs(value) <= 0x1p53 ? fmt::format("{}", static_cast<int64_t>(value))
                                                                 : fx::print_float(value);
}

std::string data_list(const graphdir::TensorMeta& meta) {
  std::vector<std::string> parts;
  if (meta.float_data) {
    for (const double value : *meta.float_data) parts.push_back(figure(value, 6));
  } else {
    for (const int64_t value : *meta.int_data)
      parts.push_back(meta.dtype != ir::DType::Bool ? std::to_string(value) : value != 0 ? "True" : "False");
  }
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string print_record(const graphdir::TensorMeta& meta) {
  const auto number = [](const std::optional<double>& value) { return value ? figure(*value, 3) : "None"; };
  std::string text = fmt::format("class {}:\n", meta.class_name);
  text += fmt::format("\tname = \"{}\"\n\toriginal_name = \"{}\"\n", meta.name, meta.original_name);
  text += fmt::format("\tshape = [{}]\n\tdtype = \"torch.{}\"\n", fmt::join(meta.shape, ", "), ir::name(meta.dtype));
  text +=
      fmt::format("\tdevice = \"{}\"\n\tmean = {}\n\tstd = {}\n", meta.device, number(meta.mean), number(meta.stddev));
  if (meta.int_data || meta.float_data) text += fmt::format("\tdata = {}\n", data_list(meta));
  if (meta.max_value) text += fmt::format("\tmax_val = {}\n", bound(*meta.max_value));
  if (meta.min_value) text += fmt::format("\tmin_val = {}\n", bound(*meta.min_value));
  return text;
}

Result<PieceRecord> computed_record(const ir::Node& node, ir::NodeId id, const VariantValues& values) {
  const ir::Value& value = values.types.at(id);
  if (const ir::Value::Unknown* unknown = value.unknown())
    return unsupported(fmt::format("the size of {} is not known: {}", quoted(node.name), first_line(unknown->why)));
  const ir::TensorType* type = value.tensor();
  if (type == nullptr) return unsupported(fmt::format("argument {} is no tensor", quoted(node.name)));
  PieceRecord record;
  record.meta.shape = type->shape;
  record.meta.dtype = type->dtype;
  record.meta.device = "cuda:0";
  const std::optional<ir::Statistics> measured =
      id < values.measured.size() ? values.measured[id] : std::optional<ir::Statistics>();
  describe(*type, measured, record.meta);
  const bool derived = id < values.derived.size() && values.derived[id];
  record.origin = !measured ? Origin::Assumed : derived ? Origin::Derived : Origin::Measured;
  return record;
}

}  // namespace

std::string_view name(Origin origin) {
  switch (origin) {
    case Origin::Recorded: return "recorded";
    case Origin::Derived: return "derived";
    case Origin::Measured: return "measured";
    case Origin::Assumed: return "assumed";
  }
  return "unknown";
}

Result<std::vector<PieceRecord>> piece_records(const analysis::Piece& piece, const ir::Graph& whole,
                                               std::span<const std::string> names, const VariantValues& values) {
  std::vector<PieceRecord> records;
  for (size_t i = 0; i < piece.inputs.size(); ++i) {
    const ir::NodeId id = piece.inputs[i];
    PieceRecord record;
    if (id < whole.placeholder_count()) {
      record.meta = values.records.at(id);
      record.origin = values.assumed_records ? Origin::Assumed : Origin::Recorded;
    } else {
      PASSNET_TRY(record, computed_record(whole.node(id), id, values));
    }
    record.meta.class_name = "Program_weight_tensor_meta_" + names[id];
    record.meta.original_name = names[id];
    record.meta.name = std::string(piece.graph.node(static_cast<ir::NodeId>(i)).target);
    records.push_back(std::move(record));
  }
  return records;
}

std::string print_records(std::span<const PieceRecord> records) {
  std::vector<std::string> texts;
  for (const PieceRecord& record : records) texts.push_back(print_record(record.meta));
  return fmt::format("{}", fmt::join(texts, "\n\n"));
}

}  // namespace passnet::dataset::official
