#include "author/report/precision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json/json_fields.h"

namespace passnet::author {

namespace {

bool applies(const record::RunRecord& record, const std::string& pass) {
  return std::ranges::any_of(record.passes, [&](const record::PassOutcome& one) {
    return one.matches > 0 && (pass.empty() || one.pass == pass);
  });
}

void add(Precision& precision, const record::RunRecord& record) {
  bool is_held = false, is_larger = false;
  for (const record::OutputCheck& output : record.outputs) {
    if (!output.budget) continue;
    is_held = true;
    const double error = output.budget->found.norm, of_eager = output.budget->eager.norm;
    precision.error = std::max(precision.error, error);
    precision.of_eager = std::max(precision.of_eager, of_eager);
    if (error <= of_eager) continue;
    is_larger = true;
    precision.factor =
        std::max(precision.factor, of_eager > 0 ? error / of_eager : std::numeric_limits<double>::infinity());
  }
  precision.graphs += is_held ? 1 : 0;
  precision.larger += is_larger ? 1 : 0;
}

}  // namespace

std::optional<Precision> precision_of(const Records& records, const std::string& pass) {
  Precision precision;
  for (const record::RunRecord& record : records) {
    // Without float64, eager stands for it and has no error of its own.
    if (record.no_float64.empty() && applies(record, pass)) add(precision, record);
  }
  return precision.graphs > 0 ? std::optional(precision) : std::nullopt;
}

Json to_json(const Precision& precision) {
  return {{"graphs", precision.graphs},
          {"error", number_json(precision.error)},
          {"of_eager", number_json(precision.of_eager)},
          {"larger", precision.larger},
          {"factor", std::isfinite(precision.factor) ? Json(precision.factor) : Json()}};
}

}  // namespace passnet::author
