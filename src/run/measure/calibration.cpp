#include "run/measure/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/hash.h"
#include "base/json/json_object.h"
#include "base/log.h"
#include "base/utc.h"
#include "pass/kernel/object_seal.h"
#include "record/floor_json.h"
#include "run/worker/ask.h"

namespace passnet {

PASSNET_JSON_FIELDS(run::CacheSize, "cache", PASSNET_FIELDS(level, bytes))

PASSNET_JSON_FIELDS(run::Calibration, "calibration",
                    PASSNET_FIELDS(version, hardware, threads, measured, copies, products, caches, call_us, launch_us))

}  // namespace passnet

namespace passnet::run {

namespace {

/// Beyond what any machine copies: the caches of a thousand processors, or of the largest GPUs, have a hundredth.
constexpr double kMostGbPerS = 1e7;
/// The same of arithmetic: the largest GPUs have a hundredth.
constexpr double kMostGflopPerS = 1e9;

bool is_usable(const std::vector<record::CopySpeed>& copies) {
  return !copies.empty() && std::ranges::all_of(copies, [](const record::CopySpeed& copy) {
    return copy.bytes > 0 && std::isfinite(copy.gb_per_s) && copy.gb_per_s > 0 && copy.gb_per_s <= kMostGbPerS;
  });
}

bool is_usable(const std::vector<record::ProductSpeed>& products) {
  return std::ranges::all_of(products, [](const record::ProductSpeed& product) {
    return std::isfinite(product.gflop_per_s) && product.gflop_per_s > 0 && product.gflop_per_s <= kMostGflopPerS;
  });
}

/// What a seal ties the file to: one of other hardware, or of something else that is sealed, does not do.
std::string seal_key(const std::string& hardware, int threads) {
  return fmt::format("calibration\n{}\n{}", hardware, threads);
}

Result<Calibration> read_calibration(const std::filesystem::path& file, const std::string& hardware, int threads) {
  PASSNET_TRY(const std::string text, read_file(file, FileKind::Settings));
  PASSNET_TRY(const std::string secret, pass::installation_secret());
  if (const std::string broken = pass::broken_seal(file, secret, seal_key(hardware, threads), text); !broken.empty())
    return bad_input(fmt::format("'{}' is not as it was measured: {}", file.string(), broken));
  PASSNET_TRY(const Json json, parse_json(text, file.string()));
  PASSNET_TRY(Calibration read, from_json_object<Calibration>(json));
  if (read.version != kCalibrationVersion || read.hardware != hardware || read.threads != threads ||
      !is_usable(read.copies) || !is_usable(read.products))
    return bad_input(fmt::format("'{}' is no calibration of {}, {} threads", file.string(), hardware, threads));
  return read;
}

}  // namespace

std::filesystem::path calibration_file(const std::string& hardware, int threads) {
  const std::string key = sha256_hex(fmt::format("{}\n{}", hardware, threads)).substr(0, 16);
  return passnet_home() / "calibration" / (key + ".json");
}

std::optional<Calibration> load_calibration(const std::string& hardware, int threads) {
  const std::filesystem::path file = calibration_file(hardware, threads);
  if (!path_exists(file)) return std::nullopt;
  Result<Calibration> read = read_calibration(file, hardware, threads);
  if (read) return std::move(*read);
  log::warn(fmt::format("{}; this machine is measured anew", read.error().message));
  return std::nullopt;
}

std::optional<Calibration> calibration_of(const record::RunRecord& record) {
  return load_calibration(record.hardware.substr(0, record.hardware.rfind(", torch ")), record.threads);
}

Result<void> store_calibration(const Calibration& calibration) {
  const std::filesystem::path file = calibration_file(calibration.hardware, calibration.threads);
  const std::string text = dump(to_json_object(calibration)) + "\n";
  PASSNET_TRY(const std::string secret, pass::installation_secret());
  PASSNET_TRY_VOID(pass::write_seal(file, secret, seal_key(calibration.hardware, calibration.threads), text));
  return write_file(file, text);
}

Result<Calibration> calibrate(Worker& reference, const std::string& hardware, int threads,
                              std::chrono::milliseconds timeout) {
  PASSNET_TRY(protocol::Answer<protocol::Calibrate> answer, ask(reference, protocol::Calibrate{}, timeout));
  auto& [copies, products] = answer.reply;
  if (!is_usable(copies)) return nonsense("calibrate", "expected copies of some bytes at some speed");
  if (!is_usable(products)) return nonsense("calibrate", "expected products at some speed");
  return Calibration{kCalibrationVersion, hardware, threads, utc_now(), std::move(copies), std::move(products)};
}

Result<Calibration> known_calibration(Worker& reference, const std::string& hardware, int threads,
                                      std::chrono::milliseconds timeout) {
  if (std::optional<Calibration> known = load_calibration(hardware, threads)) return std::move(*known);
  PASSNET_TRY(Calibration measured, calibrate(reference, hardware, threads, timeout));
  log::info(fmt::format("this machine was not calibrated: it copies {}; 'passnet doctor --calibrate' measures again",
                        describe(measured)));
  if (const Result<void> stored = store_calibration(measured); !stored) log::warn(to_string(stored.error()));
  return measured;
}

std::vector<CacheSize> cache_sizes() {
  std::vector<CacheSize> caches;
  for (int i = 0;; ++i) {
    const std::filesystem::path place = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}", i);
    const auto line_of = [&](const char* file) {
      const Result<std::string> text = read_file(place / file, FileKind::Settings);
      return text ? text->substr(0, text->find('\n')) : std::string();
    };
    const std::string type = line_of("type"), size = line_of("size");
    if (type.empty()) break;
    if (type == "Instruction" || !size.ends_with('K')) continue;
    caches.push_back({std::atoi(line_of("level").c_str()), std::atoll(size.c_str()) << 10});
  }
  std::ranges::sort(caches, {}, &CacheSize::level);
  return caches;
}

std::string describe(const Calibration& calibration) {
  const auto by_bytes = [](const record::CopySpeed& a, const record::CopySpeed& b) { return a.bytes < b.bytes; };
  const auto by_speed = [](const record::CopySpeed& a, const record::CopySpeed& b) { return a.gb_per_s < b.gb_per_s; };
  const auto& largest = *std::ranges::max_element(calibration.copies, by_bytes);
  const auto& fastest = *std::ranges::max_element(calibration.copies, by_speed);
  std::string text = fmt::format("{:.0f} GB/s, {} MiB at a time, and up to {:.0f} GB/s, {} KiB at a time",
                                 largest.gb_per_s, largest.bytes >> 20, fastest.gb_per_s, fastest.bytes >> 10);
  for (const record::ProductSpeed& product : calibration.products)
    text += fmt::format("{} {} at {:.4g} GFLOP/s", &product == calibration.products.data() ? "; multiplies" : ",",
                        product.dtype, product.gflop_per_s);
  return text;
}

}  // namespace passnet::run
