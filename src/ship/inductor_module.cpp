#include "ship/inductor_module.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file/file.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/text/strings.h"
#include "base/version.h"
#include "bundle/target.h"
#include "fx/print.h"
#include "graphdir/sample.h"
#include "pass/plan/kernel_file_json.h"
#include "pass/source.h"
#include "ship/target_builder.h"

namespace passnet::ship {

namespace {

std::string base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(length));
  return text;
}

/// A pattern with its constants, and what runs in its place for inputs of some types.
struct Exported {
  const pass::Pass* pass = nullptr;
  std::vector<std::string> constants;  // as run::Bound has them
  std::vector<std::string> plans;      // JSON
};

/// The module while it is written.
class Module {
 public:
  explicit Module(std::string target) : target_(std::move(target)) {}

  /// Errors: Unsupported: a pass that has no such form; Io: an object is gone.
  Result<void> add(const std::vector<pass::Pass>& passes, const run::GraphBuild& made) {
    for (size_t i = 0; i < made.bound.size(); ++i) {
      const pass::Pass& pass = passes[made.pass_of_list[i]];
      PASSNET_TRY_VOID(check(pass, made, i));
      PASSNET_TRY(const Json plan, plan_of(pass, made, i));
      const std::string text = compact(plan);
      Exported& one = entry(pass, made.bound[i].constants);
      if (std::ranges::find(one.plans, text) == one.plans.end()) one.plans.push_back(text);
    }
    return {};
  }

  bool is_empty() const { return exported_.empty(); }
  size_t patterns() const { return exported_.size(); }
  std::vector<std::string> passes() const {
    std::set<std::string> names;
    for (const Exported& one : exported_) names.insert(one.pass->name);
    return {names.begin(), names.end()};
  }

  std::string text() const {
    std::string body;
    if (triton_ != nullptr) body += "\n" + *triton_->text + "\n";
    for (size_t i = 0; i < exported_.size(); ++i) body += "\n\n" + class_of(i);
    body += "\n\nOBJECTS = {\n";
    for (const auto& [sha256, object] : objects_) body += fmt::format("    \"{}\": \"{}\",\n", sha256, object);
    body += "}\nPATTERNS = [\n";
    for (size_t i = 0; i < exported_.size(); ++i) body += row_of(i);
    body += "]\n";
    return fmt::format(
        "\"\"\"Passes of PassNet {} for Inductor: {}. Written by `passnet export --inductor`.\n\n"
        "    torch.compile(model, options={{\"joint_custom_pre_pass\": MODULE.graph_pass}})\n"
        "\"\"\"\n\nfrom math import inf, nan  # noqa: F401\n\nimport torch\nfrom torch import device  # noqa: F401\n\n"
        "from passnet import inductor\n{}graph_pass = inductor.GraphPass(\"{}\", PATTERNS, OBJECTS, globals())\n",
        kVersion, join(passes(), ", "), body, sha256_hex(body));
  }

 private:
  Exported& entry(const pass::Pass& pass, const std::vector<std::string>& constants) {
    for (Exported& one : exported_)
      if (one.pass->path == pass.path && one.constants == constants) return one;
    exported_.push_back({&pass, constants, {}});
    return exported_.back();
  }

  Result<void> check(const pass::Pass& pass, const run::GraphBuild& made, size_t list) {
    const auto refuse = [&](const std::string& why) {
      return unsupported(fmt::format("pass '{}' cannot be exported: {}", pass.name, why),
                         SourceLoc{pass.path.string(), 0, 0});
    };
    const run::Bound& bound = made.bound[list];
    for (size_t i = 0; i < bound.constants.size(); ++i) {
      if (bound.constants[i].empty() && !bound.types[i])
        return refuse("an input of its pattern is a value of the graph that is no tensor");
    }
    const pass::LaunchList& planned = made.planned[list];
    for (const pass::Buffer& buffer : made.built.lists[list].buffers)
      if (buffer.input >= 0 && buffer.may_be_written) return refuse("its kernel overwrites an input");
    for (const pass::View& output : planned.outputs)
      if (planned.buffers[output.buffer].input >= 0) return refuse("it returns an input");
    const auto is_triton = [](const pass::Launch& launch) { return launch.origin == pass::KernelOrigin::Triton; };
    if (std::ranges::any_of(planned.launches, is_triton) && !std::ranges::all_of(planned.launches, is_triton))
      return refuse("it launches kernels of Triton and others");
    for (const pass::Launch& launch : planned.launches) {
      if (!is_triton(launch)) continue;
      if (!launch.choices.empty()) return refuse("a kernel has several configurations (@triton.autotune)");
      if (!pass::imported_files(pass.files, pass.path).empty()) return refuse("its file imports others beside it");
      if (triton_ != nullptr && triton_->path != pass.path)
        return refuse(
            fmt::format("'{}' has kernels of Triton too, and a module holds those of one file", triton_->name));
      triton_ = &pass;
    }
    return {};
  }

  Result<Json> plan_of(const pass::Pass& pass, const run::GraphBuild& made, size_t list) {
    const run::Bound& bound = made.bound[list];
    Json inputs = Json::array();
    std::map<uint32_t, size_t> places;  // of the pattern's inputs among those that are tensors
    for (uint32_t i = 0; i < bound.types.size(); ++i) {
      if (!bound.types[i]) continue;
      places[i] = inputs.size();
      inputs.push_back({{"name", std::string(pass.pattern.node(i).target)},
                        {"dtype", std::string(ir::name(bound.types[i]->dtype))},
                        {"shape", bound.types[i]->shape},
                        {"strides", bound.types[i]->strides}});
    }
    Json takes = Json::array();
    for (const uint32_t input : bound.tensors) takes.push_back(places.at(input));
    Json plan{{"target", target_},
              {"processor", target_ == bundle::kThisCpu ? bundle::this_processor() : ""},
              {"inputs", std::move(inputs)},
              {"takes", std::move(takes)},
              {"kernels", Json::array()}};
    const bool is_triton = triton_ != nullptr && triton_->path == pass.path;
    plan["list"] = pass::to_json(is_triton ? made.planned[list] : made.built.lists[list]);
    if (is_triton) return plan;
    for (const pass::BuiltKernel& kernel : made.built.kernels[list]) {
      Json row = to_json_object(kernel.file());
      row.erase("object");
      plan["kernels"].push_back(std::move(row));
      std::string& object = objects_[kernel.sha256];
      if (!object.empty()) continue;
      PASSNET_TRY(const std::string bytes, read_file(kernel.object, FileKind::Object));
      object = base64(bytes);
    }
    return plan;
  }

  std::string name_of(size_t index) const { return fmt::format("{}_{}", exported_[index].pass->name, index); }

  /// The pattern as PyTorch runs it.
  std::string class_of(size_t index) const {
    std::string text = fx::print_model(exported_[index].pass->pattern);
    constexpr std::string_view generic = "class GraphModule(";
    const size_t at = text.find(generic);
    return fmt::format("{}class {}({}", text.substr(0, at), name_of(index), text.substr(at + generic.size()));
  }

  std::string row_of(size_t index) const {
    const Exported& one = exported_[index];
    std::string text = fmt::format("    inductor.Pattern(\n        \"{}\",\n        {}().forward,\n        {{",
                                   one.pass->name, name_of(index));
    std::string_view comma;
    for (uint32_t i = 0; i < one.constants.size(); ++i) {
      if (one.constants[i].empty()) continue;
      text += fmt::format("{}\"{}\": {}", comma, one.pass->pattern.node(i).target, one.constants[i]);
      comma = ", ";
    }
    text += "},\n        [\n";
    for (const std::string& plan : one.plans) text += fmt::format("            {},\n", fx::print_string(plan));
    return text + "        ],\n    ),\n";
  }

  std::string target_;
  std::vector<Exported> exported_;
  std::map<std::string, std::string> objects_;  // by SHA-256, in base64
  const pass::Pass* triton_ = nullptr;          // whose kernels of Triton stand in the module
};

}  // namespace

Result<InductorModule> make_inductor_module(const std::vector<std::filesystem::path>& samples,
                                            const std::string& target, const std::atomic<bool>& interrupted) {
  PASSNET_TRY_VOID(bundle::architecture_of(target));
  PASSNET_TRY(TargetBuilder builder, TargetBuilder::start(interrupted));
  Module module(target);
  std::vector<std::vector<pass::Pass>> passes;  // by sample; the module refers to them
  passes.reserve(samples.size());
  for (const std::filesystem::path& path : samples) {
    PASSNET_TRY(const graphdir::Sample sample, graphdir::load_sample(path));
    PASSNET_TRY(std::vector<pass::Pass> loaded, pass::load_passes(path, {false, &interrupted}));
    passes.push_back(std::move(loaded));
    for (const std::filesystem::path& graph : sample.graph_paths) {
      const Result<run::GraphBuild> made = builder.build(graph, passes.back(), target);
      if (!made && made.error().failure == "no-match") continue;
      if (!made) return made.error();
      PASSNET_TRY_VOID(module.add(passes.back(), *made));
    }
  }
  if (module.is_empty())
    return bad_input("no pass applies to a graph of its sample").with_hint("passnet pass match SAMPLE says why");
  return InductorModule{module.text(), module.passes(), module.patterns()};
}

}  // namespace passnet::ship
