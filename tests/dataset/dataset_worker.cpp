// A stand-in for the reference worker. What a graph calls says how it behaves:
//   torch.nonzero     the run ends in an error of two lines
//   torch.special     the graph cannot be loaded
//   torch.rand_like   the second run gives other outputs
//   torch.log         outputs are not finite
//   torch.clone       an output has the bytes of an input
//   torch.zeros_like  outputs do not change with the inputs
//   torch.bincount    a value has no type
// A graph that returns () has no outputs. Others repeat their outputs, which change with the seed of the inputs.
// `infer` gives every value the type of the first record.
#include <nlohmann/json.hpp>
#include <string>

#include "serve_requests.h"

using passnet::Json;

namespace {

struct Worker {
  std::string model;
  int64_t seed = 0;

  bool has(const char* part) const { return model.find(part) != std::string::npos; }
  Json bundle(const char* name, int64_t elements) const {
    return Json::array({{{"name", name}, {"dtype", "float32"}, {"shape", Json::array({elements})}, {"offset", 0}}});
  }
  Json run() const {
    if (has("torch.nonzero")) return {{"ok", false}, {"kind", "bad-input"}, {"error", "first\nsecond"}};
    if (has("return ()")) return {{"ok", true}, {"outputs", Json::array()}};
    return {{"ok", true}, {"outputs", bundle("out_0", has("torch.clone") ? 2 : 3)}};
  }
  Json compare() const {
    if (has("return ()"))
      return {{"ok", true}, {"compared", 1}, {"inputs", Json::object()}, {"outputs", Json::array()}};
    const bool other_inputs = seed != 123;
    const bool equal = other_inputs ? has("torch.zeros_like") : !has("torch.rand_like") && !has("torch.log");
    return passnet::compared_output("float32", Json::array({3}), equal, equal ? -10 : 6,
                                    has("torch.log") ? Json("nan") : Json(equal ? 0 : 1));
  }
  // By the names that stand before " = " in the model, and those of its one argument and its record.
  Json infer(const Json& records) const {
    const Json& shape = records.at(0).at("shape");
    Json values = {{"a", {{"dtype", "float32"}, {"shape", shape}, {"strides", shape}}}};
    for (size_t end = model.find(" = "); end != std::string::npos; end = model.find(" = ", end + 1)) {
      const size_t start = model.rfind(' ', end - 1) + 1;
      values[model.substr(start, end - start)] = values["a"];
    }
    if (has("torch.bincount")) values["b"] = {{"unknown", "depends on data\nmore"}};
    return {{"ok", true}, {"values", values}};
  }
  Json answer(const Json& request) {
    const std::string what = request.at("do").get<std::string>();
    if (what == "load") {
      model = request.at("model").get<std::string>();
      if (has("torch.special")) return {{"ok", false}, {"kind", "unsupported"}, {"error", "no such operator"}};
    }
    if (what == "inputs") {
      seed = request.at("seed").get<int64_t>();
      return {{"ok", true}, {"tensors", bundle("in_0", 2)}};
    }
    if (what == "run") return run();
    if (what == "compare") return compare();
    if (what == "infer") return infer(request.at("weight_meta"));
    return {{"ok", true}};
  }
};

}  // namespace

int main() {
  Worker worker;
  return passnet::serve_requests([&](const Json& request) { return worker.answer(request); });
}
