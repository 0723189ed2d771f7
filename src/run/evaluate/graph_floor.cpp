#include "run/evaluate/graph_floor.h"

#include <map>
#include <string>

#include "analysis/cost.h"
#include "run/measure/least_bytes.h"

namespace passnet::run {

namespace {

/// Floating-point operations alone: positions and masks are computed beside them.
std::vector<record::Arithmetic> arithmetic_of(const ir::Graph& graph, const ir::Values& types,
                                              const std::vector<record::ProductSpeed>& products) {
  std::map<std::string, double> counts;
  const bool has_tf32 = record::product_speed(record::kTf32, products) > record::product_speed("float32", products);
  for (const analysis::Operations& one : analysis::cost_of(graph, types).operations) {
    if (ir::is_integral(one.dtype) || one.dtype == ir::DType::Bool) continue;
    const bool as_tf32 = has_tf32 && one.convolution && one.dtype == ir::DType::Float32;
    counts[as_tf32 ? record::kTf32 : std::string(ir::name(one.dtype))] += one.count;
  }
  std::vector<record::Arithmetic> arithmetic;
  for (const auto& [dtype, count] : counts)
    arithmetic.push_back({dtype, count, record::product_speed(dtype, products)});
  return arithmetic;
}

}  // namespace

record::Floor graph_floor(const ir::Graph& graph, const ir::Values& types, const std::vector<bool>& owned,
                          const Calibration& machine, double reference_us) {
  record::Floor floor = record::floor_of(least_bytes(graph, types, owned), machine.copies, reference_us);
  floor.arithmetic = arithmetic_of(graph, types, machine.products);
  return floor;
}

}  // namespace passnet::run
