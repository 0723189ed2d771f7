// What this machine was measured to do, kept beside the kernels: the reference worker copies memory, once per processor
// (or GPU) and number of threads.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/floor.h"
#include "run/worker/worker.h"

namespace passnet::run {

/// Of its file. 1: copies of one thread alone.
inline constexpr int kCalibrationVersion = 2;

struct Calibration {
  int version = kCalibrationVersion;
  std::string hardware;  // as the worker tells it: "Intel(R) Xeon(R) … x 2 threads"
  int threads = 1;
  std::string measured;  // ISO 8601, UTC
  std::vector<record::CopySpeed> copies;
  bool operator==(const Calibration&) const = default;
};

/// Where that of this hardware is kept: below passnet_home().
std::filesystem::path calibration_file(const std::string& hardware, int threads);

/// What is kept; nullopt: nothing, or nothing that can be used, which is said.
std::optional<Calibration> load_calibration(const std::string& hardware, int threads);
/// Readers see the old one or this one. Errors: Io.
Result<void> store_calibration(const Calibration& calibration);

/// Asks a reference worker to measure; takes less than a second. Errors: of the worker; "nonsense".
Result<Calibration> calibrate(Worker& reference, const std::string& hardware, int threads,
                              std::chrono::milliseconds timeout);

/// What is kept, or measured now, which is said, and kept from now on. Errors: as calibrate().
Result<Calibration> known_calibration(Worker& reference, const std::string& hardware, int threads,
                                      std::chrono::milliseconds timeout);

/// "memory 21 GB/s, caches up to 180 GB/s"
std::string describe(const Calibration& calibration);

}  // namespace passnet::run
