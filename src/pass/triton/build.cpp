#include "pass/triton/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/file/file.h"
#include "base/file/temporary_directory.h"
#include "base/hash.h"
#include "base/in_order.h"
#include "base/text/strings.h"
#include "pass/kernel/build_turn.h"
#include "pass/kernel/check/cubin_check.h"
#include "pass/kernel/check/ptx_check.h"
#include "pass/kernel/compile_run.h"
#include "pass/kernel/object_cache.h"
#include "pass/triton/compile.h"
#include "pass/triton/launch_facts.h"
#include "pass/triton/refusals.h"
#include "pass/triton/toolchain.h"

namespace passnet::pass {
namespace {

constexpr const char* kPtxHint =
    "kernels compute on their arguments: leave out printing, asserts (debug=True), clocks and assembly that waits";

/// A request with all that it takes to build it or to find what was built.
struct Order {
  const TritonRequest* request = nullptr;
  TritonToolchain toolchain;
  CacheEntry object, facts;  // the cubin, and a text of its launch_facts.h
};

std::string key_of(const TritonRequest& request, const TritonToolchain& toolchain) {
  std::string all = toolchain.identity + "\n" + dump(to_json(request));
  for (const auto& module : request.modules) all += fmt::format("\n{} {}", module->name, sha256_hex(*module->text));
  return sha256_hex(all);
}

Result<Order> order_of(const TritonRequest& request, const TritonOptions& options) {
  PASSNET_TRY_VOID(check_request(request));
  PASSNET_TRY(TritonToolchain toolchain, find_triton(*capability_of(request.architecture)));
  const std::string key = key_of(request, toolchain);
  PASSNET_TRY(CacheEntry object, find_entry(options.cache_dir, key, ".cubin"));
  PASSNET_TRY(CacheEntry facts, find_entry(options.cache_dir, key, ".json"));
  return Order{&request, std::move(toolchain), std::move(object), std::move(facts)};
}

BuiltKernel describe_built(const Order& order, TritonKernel kernel, const std::string& cubin, bool from_cache) {
  BuiltKernel built{order.object.object, std::move(kernel.entry), {}, sha256_hex(cubin), from_cache};
  for (const uint32_t i : kernel.launch.arguments) built.parameters.push_back(order.request->parameters[i].type);
  built.triton = std::move(kernel.launch);
  return built;
}

std::optional<BuiltKernel> find_kept(const Order& order) {
  const auto cubin = read_kept(order.object), text = cubin ? read_kept(order.facts) : std::nullopt;
  if (!text) return std::nullopt;
  Result<TritonKernel> kernel = triton_kernel_from_text(*text, *order.request);
  // Checked again, as what is refused today may have been kept by an earlier version.
  if (!kernel || !check_triton_cubin(*cubin, kernel->entry)) return std::nullopt;
  return describe_built(order, std::move(*kernel), *cubin, true);
}

/// ptxas on PTX that was checked. Returns the cubin's bytes.
Result<std::string> assemble(const Order& order, const fs::path& directory, const std::string& ptx,
                             const std::string& target, const TritonLimits& limits) {
  PASSNET_TRY_VOID(write_file(directory / "unit.ptx", ptx));
  CompileRequest compile = limits_of(*order.request, limits);
  compile.directory = directory;
  std::vector<std::string> argv = {order.toolchain.ptxas, "--gpu-name=" + target, "unit.ptx", "-o", "unit.cubin"};
  if (!order.request->enable_fp_fusion) argv.insert(argv.begin() + 1, "--fmad=false");
  PASSNET_TRY(const CompilerOutput output,
              run_compiler(argv, compile, files_or_warn(order.toolchain.ptxas, loaded_files({order.toolchain.ptxas}))));
  if (succeeded(output)) return read_file(directory / "unit.cubin", FileKind::Object);
  if (auto error = exhausted(output, compile)) return std::move(*error);
  return bad_pass(fmt::format("ptxas refuses the PTX of kernel '{}': {}", order.request->kernel,
                              quoted(first_line(trim(output.text)), 300)));
}

Result<BuiltKernel> finish(const Order& order, const TritonAnswer& answer, const TritonLimits& limits) {
  PASSNET_TRY_VOID(check_ptx(answer.ptx, order.request->kernel, kPtxHint));
  PASSNET_TRY(const PtxEntry entry, read_ptx_entry(answer.ptx));
  PASSNET_TRY(TritonKernel kernel, read_launch_facts(answer.facts, entry, *order.request));
  PASSNET_TRY(const TemporaryDirectory directory,
              TemporaryDirectory::make(order.object.object.parent_path().parent_path(), "build-"));
  PASSNET_TRY(const std::string cubin, assemble(order, directory.path(), answer.ptx, entry.target, limits));
  PASSNET_TRY_VOID(check_triton_cubin(cubin, kernel.entry));
  const std::string text = to_text(kernel);
  PASSNET_TRY_VOID(write_file(directory.path() / "unit.json", text));
  // The object last: who finds it finds the other.
  PASSNET_TRY_VOID(keep(order.facts, directory.path() / "unit.json", text));
  PASSNET_TRY_VOID(keep(order.object, directory.path() / "unit.cubin", cubin));
  return describe_built(order, std::move(kernel), cubin, false);
}

/// What a refusal is remembered by: its message names these files.
std::string refusal_key(const Order& order) {
  std::string key = order.object.key;
  for (const auto& module : order.request->modules) key += "\n" + module->file;
  return key;
}

Error place_at_kernel(Error error, const TritonRequest& request) {
  if (!error.at) error.at = request.at;
  return error;
}

TritonLimits limits_from(const TritonOptions& options, const fs::path& scratch) {
  const size_t processors = std::max(1U, std::thread::hardware_concurrency());
  return {.timeout_s = options.timeout_s,
          .memory_bytes = options.memory_bytes,
          .jobs = options.jobs != 0 ? options.jobs : processors,
          .scratch = scratch,
          .interrupted = options.interrupted};
}

/// Each order compiled, in their order.
std::vector<Result<BuiltKernel>> build_orders(std::span<const Order> orders, const TritonOptions& options) {
  std::vector<Result<BuiltKernel>> built;
  if (orders.empty()) return built;
  const TritonLimits limits = limits_from(options, orders[0].object.object.parent_path().parent_path());
  std::vector<TritonTask> tasks;
  for (const Order& order : orders) tasks.push_back({order.request, &order.toolchain});
  const std::vector<Result<TritonAnswer>> answers = compile_to_ptx(tasks, limits);
  size_t taken = 0;
  map_in_order([&] { return taken < orders.size() ? std::optional(taken++) : std::nullopt; },
               [&](size_t i) -> Result<BuiltKernel> {
                 if (!answers[i]) return answers[i].error();
                 return finish(orders[i], *answers[i], limits);
               },
               [&](Result<BuiltKernel> result) { built.push_back(std::move(result)); },
               std::min(limits.jobs, orders.size()));
  return built;
}

}  // namespace

Result<std::string> describe_triton(const std::string& architecture) {
  const auto capability = capability_of(architecture);
  if (!capability) return unsupported(fmt::format("Triton for {}", quoted(architecture)));
  PASSNET_TRY(const TritonToolchain toolchain, find_triton(*capability));
  return fmt::format("{}, {}", first_line(toolchain.identity), sha256_hex(toolchain.identity).substr(0, 12));
}

std::vector<Result<BuiltKernel>> build_triton_kernels(std::span<const TritonRequest> requests,
                                                      const TritonOptions& options) {
  std::vector<Result<Order>> all_orders;
  std::vector<std::string> keys;
  for (const TritonRequest& request : requests) {
    all_orders.push_back(order_of(request, options));
    if (all_orders.back()) keys.push_back(all_orders.back()->object.key);
  }
  const BuildTurn turn(std::move(keys));
  std::vector<std::optional<Result<BuiltKernel>>> results(requests.size());
  std::vector<Order> orders;
  std::map<std::string, size_t> known;  // key: which of the orders
  std::vector<size_t> order_of_request(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    Result<Order>& order = all_orders[i];
    if (!order) {
      results[i] = place_at_kernel(std::move(order).error(), requests[i]);
    } else if (auto kept = find_kept(*order)) {
      results[i] = std::move(*kept);
    } else if (auto refused = known_refusal(refusal_key(*order))) {
      results[i] = std::move(*refused);
    } else {
      const auto [at, fresh] = known.emplace(order->object.key, orders.size());
      order_of_request[i] = at->second;
      if (fresh) orders.push_back(std::move(*order));
    }
  }
  const std::vector<Result<BuiltKernel>> built = build_orders(orders, options);
  for (size_t i = 0; i < orders.size(); ++i) {
    if (!built[i]) remember_refusal(refusal_key(orders[i]), built[i].error());
  }
  std::vector<Result<BuiltKernel>> all;
  for (size_t i = 0; i < requests.size(); ++i) {
    Result<BuiltKernel> result = results[i] ? std::move(*results[i]) : built[order_of_request[i]];
    if (!result) result = place_at_kernel(std::move(result).error(), requests[i]);
    all.push_back(std::move(result));
  }
  return all;
}

}  // namespace passnet::pass
