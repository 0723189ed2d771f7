#include "run/worker/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/file/temporary_directory.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "fx/print.h"
#include "pass/kernel/object_cache.h"
#include "run/worker/ask.h"
#include "run/worker/pytorch.h"

namespace passnet::run {

namespace {

fs::path cache_directory() { return passnet_home() / "packages"; }

/// By argument of forward. Errors: BadInput: one without an input.
Result<std::vector<wire::Entry>> in_order(const PackageRequest& request) {
  std::vector<wire::Entry> ordered;
  for (const ir::Node& node : request.graph.nodes()) {
    if (node.kind != ir::NodeKind::Placeholder) break;
    const auto found = std::ranges::find(request.inputs, node.target, &wire::Entry::name);
    if (found == request.inputs.end()) return bad_input(fmt::format("no tensor for the argument '{}'", node.target));
    ordered.push_back({found->name, found->dtype, found->shape});
  }
  return ordered;
}

Result<PackageOutputs> read_outputs(const Json& json) {
  PackageOutputs outputs;
  for (const Json& one : json) {
    outputs.emplace_back();
    if (one.is_null()) continue;
    PASSNET_TRY(outputs.back(), ir::value_from_json(one));
  }
  return outputs;
}

/// Where a package and what it returns are kept.
struct Kept {
  pass::CacheEntry package, outputs;
};

std::optional<Package> find_package(const Kept& kept) {
  const std::optional<std::string> bytes = pass::read_kept(kept.package);
  const std::optional<std::string> told = bytes ? pass::read_kept(kept.outputs) : std::nullopt;
  if (!told) return std::nullopt;
  const Result<Json> json = parse_json(*told, "what a package returns");
  Result<PackageOutputs> outputs = json ? read_outputs(*json) : json.error();
  if (!outputs) return std::nullopt;
  return Package{kept.package.object, sha256_hex(*bytes), {}, std::move(*outputs)};
}

/// A compiler that is gone says less than that it was the compiler.
Error lost_compiler(Error error, std::chrono::milliseconds timeout) {
  if (error.failure == "timeout")
    error.message = fmt::format("AOTInductor made no package within {:g} s; it was killed",
                                std::chrono::duration<double>(timeout).count());
  else if (error.worker_lost && error.failure != "interrupted")
    error.message = "AOTInductor: " + error.message;
  return error;
}

Result<Package> make_package(Worker& compiler, const PackageRequest& request, const std::vector<wire::Entry>& inputs,
                             const Kept& kept, std::chrono::milliseconds timeout) {
  PASSNET_TRY(const TemporaryDirectory scratch, TemporaryDirectory::make(pytorch_directory(), "made-"));
  const fs::path made = scratch.path() / "model.pt2", told = scratch.path() / "outputs.json";
  Result<protocol::Answer<protocol::Package>> answer =
      ask(compiler,
          protocol::Package{fx::print_model(request.graph), request.graph.file, wire::to_json(inputs), made.string()},
          timeout);
  if (!answer) return lost_compiler(std::move(answer).error(), timeout);
  Package package{kept.package.object, {}, {}, {}};
  const Json& outputs = *answer->reply.outputs;
  PASSNET_TRY(package.outputs, read_outputs(outputs));
  PASSNET_TRY(const std::string bytes, read_file(made, FileKind::Program));
  package.sha256 = sha256_hex(bytes);
  const std::string text = dump(outputs);
  PASSNET_TRY_VOID(write_file(told, text));
  PASSNET_TRY_VOID(pass::keep(kept.outputs, told, text));
  PASSNET_TRY_VOID(pass::keep(kept.package, made, bytes));
  return package;
}

}  // namespace

Result<std::string> package_key(const PackageRequest& request) {
  PASSNET_TRY(const std::vector<wire::Entry> inputs, in_order(request));
  return fmt::format("{}\n{}\n{}", request.made_by, dump(wire::to_json(inputs)), fx::print_model(request.graph));
}

Result<Package> find_or_make_package(Worker& compiler, const PackageRequest& request,
                                     std::chrono::milliseconds timeout) {
  PASSNET_TRY(const std::vector<wire::Entry> inputs, in_order(request));
  PASSNET_TRY(const std::string decides, package_key(request));
  const std::string key = sha256_hex(decides);
  Kept kept;
  PASSNET_TRY(kept.package, pass::find_entry(cache_directory(), key, ".pt2"));
  PASSNET_TRY(kept.outputs, pass::find_entry(cache_directory(), key, ".json"));
  std::optional<Package> package = find_package(kept);
  if (!package) {
    PASSNET_TRY(package, make_package(compiler, request, inputs, kept, timeout));
  }
  for (const wire::Entry& input : inputs) package->inputs.push_back(ir::contiguous(input.dtype, input.shape));
  return std::move(*package);
}

Result<void> load_package(Worker& worker, const std::string& id, const ir::Graph& packaged, const Package& package,
                          std::chrono::milliseconds timeout, const std::string& cuda_graph) {
  protocol::Load request;
  request.id = id;
  request.file = packaged.file;
  request.model = fx::print_model(packaged);
  request.cuda_graph = cuda_graph;
  protocol::Load::Package& file = request.package.emplace();
  file.path = package.file.string();
  for (const ir::TensorType& type : package.inputs) file.inputs->push_back(ir::to_json(ir::Value{type, {}}));
  file.outputs = count_tensors(package.outputs);
  PASSNET_TRY_VOID(ask(worker, request, timeout));
  return {};
}

}  // namespace passnet::run
