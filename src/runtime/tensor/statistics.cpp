#include "runtime/tensor/statistics.h"

#include <ATen/ops/clamp.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/std.h>

#include <nlohmann/json.hpp>

namespace passnet::runtime {

namespace {

// Replay keeps values within these bounds, so statistics are those of values as replay can make them: a mask
// of 0 and -3.4e38 counts as one of 0 and -100.
constexpr double kReplayBound = 100;

template <class T>
Json elements(const at::Tensor& flat) {
  Json list = Json::array();
  const at::Tensor data = flat.to(c10::CppTypeToScalarType<T>::value).contiguous();
  for (int64_t i = 0; i < data.numel(); ++i) list.push_back(data.const_data_ptr<T>()[i]);
  return list;
}

Json of_floats(const at::Tensor& flat) {
  const at::Tensor bounded =
      at::clamp(at::nan_to_num(flat.to(at::kDouble), 0.0, kReplayBound, -kReplayBound), -kReplayBound, kReplayBound);
  Json json{{"mean", flat.numel() > 0 ? bounded.mean().item<double>() : 0.0},
            {"std", flat.numel() > 1 ? at::std(bounded).item<double>() : 0.0}};
  if (flat.numel() < kRecordedInFull && at::isfinite(flat).all().item<bool>()) json["data"] = elements<double>(flat);
  return json;
}

Json of_integers(const at::Tensor& flat) {
  if (flat.numel() < kRecordedInFull) return {{"data", elements<int64_t>(flat)}};
  return {{"min", flat.min().item<int64_t>()}, {"max", flat.max().item<int64_t>()}};
}

}  // namespace

Json statistics_json(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.reshape(-1);
  if (at::isFloatingType(tensor.scalar_type())) return of_floats(flat);
  if (tensor.scalar_type() == at::kBool)
    return flat.numel() < kRecordedInFull ? Json{{"data", elements<int64_t>(flat)}} : Json::object();
  if (at::isIntegralType(tensor.scalar_type(), false)) return of_integers(flat);
  return Json::object();
}

}  // namespace passnet::runtime
