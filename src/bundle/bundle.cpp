#include "bundle/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json/json_object.h"
#include "base/text/strings.h"
#include "pass/plan/kernel_file_json.h"

namespace passnet {

PASSNET_JSON_FIELDS(bundle::Plan, "plan", PASSNET_FIELDS(target, processor, model, lists, kernels))
PASSNET_JSON_FIELDS(bundle::Manifest, "manifest.json", PASSNET_FIELDS(passnet, torch, graph, passes, weights, plans))

}  // namespace passnet

namespace passnet::bundle {

namespace {

constexpr int kVersion = 1;
constexpr std::string_view kManifest = "manifest.json";
constexpr std::string_view kSeal = "manifest.sha256";  // the SHA-256 of the manifest, in hexadecimal

/// The row of the manifest that a part is compared with.
Json row_of(const wire::Entry& entry, std::string_view bytes) {
  return {{"name", entry.name},
          {"dtype", std::string(ir::name(entry.dtype))},
          {"shape", entry.shape},
          {"sha256", sha256_hex(bytes)}};
}

Error damaged(const std::string& what) {
  return bad_input("the bundle is damaged: " + what).with_hint("copy it again, or make it anew: passnet bundle");
}

/// Errors: BadInput: the manifest is not what the bundle was written with, or of a newer version.
Result<Json> read_manifest(const Bundle& bundle) {
  const wire::Entry* const manifest = bundle.find(kManifest);
  const wire::Entry* const seal = bundle.find(kSeal);
  if (manifest == nullptr || seal == nullptr) {
    return bad_input(fmt::format("a safetensors file without {}, expected a bundle of PassNet",
                                 quoted(manifest == nullptr ? kManifest : kSeal)))
        .with_hint("passnet bundle GRAPH -o FILE makes one");
  }
  const std::string_view text = bundle.bytes(*manifest);
  if (bundle.bytes(*seal) != sha256_hex(text)) return damaged("manifest.json has another SHA-256");
  PASSNET_TRY(Json json, parse_json(text, std::string(kManifest)));
  const bool has_version = json.is_object() && json.contains("bundle") && json["bundle"].is_number_integer();
  if (!has_version) return bad_input("manifest.json has no version of bundles, expected a bundle of PassNet");
  if (const auto version = json["bundle"].get<int64_t>(); version != kVersion) {
    return bad_input(fmt::format("a bundle of version {}, this PassNet reads version {}", version, kVersion))
        .with_hint(version > kVersion ? "install a newer PassNet" : "make it anew: passnet bundle");
  }
  return json;
}

/// Every part is as the manifest says, and there is no other.
Result<void> check_parts(const Bundle& bundle, const Json& rows) {
  size_t others = 0;
  for (const wire::Entry& entry : bundle.file.entries) others += entry.name == kManifest || entry.name == kSeal;
  for (const Json& row : rows) {
    const auto name = row.at("name").get<std::string>();
    const wire::Entry* const entry = bundle.find(name);
    if (entry == nullptr) return damaged(fmt::format("it has no part {}", quoted(name)));
    if (row_of(*entry, bundle.bytes(*entry)) != row)
      return damaged(fmt::format("the part {} is not the one that was written", quoted(name)));
  }
  if (rows.size() + others != bundle.file.entries.size()) {
    return damaged(fmt::format("found {} parts, expected {}", bundle.file.entries.size(), rows.size() + others));
  }
  return {};
}

Result<Manifest> manifest_from_json(const Bundle& bundle, const Json& json) {
  PASSNET_TRY(Manifest made, from_json_object<Manifest>(json));
  std::vector<std::string> needed{std::string(kModel)};
  for (const std::string& name : made.weights) needed.push_back(std::string(kWeights) + name);
  for (const Plan& plan : made.plans) {
    for (const auto& of_list : plan.kernels) {
      for (const pass::KernelFile& kernel : of_list) {
        if (kernel.sha256.empty()) return damaged(fmt::format("kernel {} has no 'sha256'", quoted(kernel.object)));
        needed.push_back(kernel.object);
      }
    }
  }
  for (const std::string& name : needed) {
    if (bundle.find(name) == nullptr) return damaged(fmt::format("it has no part {}", quoted(name)));
  }
  return made;
}

Result<Bundle> read_parts(const std::filesystem::path& path) {
  Bundle bundle;
  PASSNET_TRY(bundle.file, wire::load_safetensors(path.string()));
  std::ranges::sort(bundle.file.entries, {}, &wire::Entry::name);
  PASSNET_TRY(const Json json, read_manifest(bundle));
  try {
    PASSNET_TRY_VOID(check_parts(bundle, json.at("parts")));
    PASSNET_TRY(bundle.manifest, manifest_from_json(bundle, json));
  } catch (const nlohmann::json::exception& problem) {
    return bad_input(fmt::format("manifest.json is not understood: {}", problem.what()));
  }
  return bundle;
}

}  // namespace

const wire::Entry* Bundle::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(file.entries, name, {}, &wire::Entry::name);
  return found != file.entries.end() && found->name == name ? &*found : nullptr;
}

std::string_view Bundle::bytes(const wire::Entry& part) const {
  return {reinterpret_cast<const char*>(file.memory.data()) + part.offset, static_cast<size_t>(part.size_bytes())};
}

Result<void> write(const std::filesystem::path& path, const Manifest& manifest, std::vector<Part> parts) {
  // Sizes of elements fall, so that each tensor is aligned for its elements.
  std::ranges::sort(parts, {}, [](const Part& part) { return std::pair(-ir::size_bytes(part.dtype), part.name); });
  Json header{{"bundle", kVersion}};
  header.update(to_json_object(manifest));
  header["parts"] = Json::array();
  std::vector<wire::Entry> entries;
  for (const Part& part : parts) {
    const bool is_weight = part.name.starts_with(kWeights);
    entries.push_back(
        {part.name, part.dtype, is_weight ? part.shape : std::vector{static_cast<int64_t>(part.bytes.size())}});
    header["parts"].push_back(row_of(entries.back(), part.bytes));
  }
  const std::string text = header.dump(1);
  const std::string seal = sha256_hex(text);
  parts.push_back({std::string(kManifest), text});
  parts.push_back({std::string(kSeal), seal});
  for (const std::string* own : {&text, &seal}) {
    entries.push_back({own == &text ? std::string(kManifest) : std::string(kSeal),
                       ir::DType::UInt8,
                       {static_cast<int64_t>(own->size())}});
  }
  std::vector<wire::SavedTensor> saved;
  for (size_t i = 0; i < parts.size(); ++i)
    saved.push_back({&entries[i], reinterpret_cast<const std::byte*>(parts[i].bytes.data())});
  return wire::save_safetensors(path.string(), saved);
}

Result<Bundle> read(const std::filesystem::path& path) {
  Result<Bundle> bundle = read_parts(path);
  if (bundle) return bundle;
  Error error = std::move(bundle).error();
  if (error.kind != Error::Kind::Io) error.at = SourceLoc{path.string(), 0, 0};
  return error;
}

}  // namespace passnet::bundle
