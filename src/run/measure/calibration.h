// Speeds measured on this machine, kept beside the kernels: the reference worker copies memory and multiplies matrices,
// once per processor (or GPU) and number of threads. Times below what copies allow are not believed (record/floor.h), so
// it is sealed.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/floor.h"
#include "record/record.h"
#include "run/worker/worker.h"

namespace passnet::run {

/// The version of its file. 1 held copies of one thread alone, 2 no products.
inline constexpr int kCalibrationVersion = 3;

/// A cache of a processor.
struct CacheSize {
  int level = 0;
  int64_t bytes = 0;
  bool operator==(const CacheSize&) const = default;
};

struct Calibration {
  int version = kCalibrationVersion;
  std::string hardware;  // as the worker tells it: "Intel(R) Xeon(R) … x 2 threads"
  int threads = 1;
  std::string measured;  // ISO 8601, UTC
  std::vector<record::CopySpeed> copies;
  std::vector<record::ProductSpeed> products = {};  // none of a type: PyTorch could not multiply it here
  std::vector<CacheSize> caches = {};  // those that data goes through, of the first processor; none: of a GPU
  // What `doctor --calibrate` measures besides; 0: it did not. us of a call that launches one kernel that does next to
  // nothing, until it is done, and of each further launch in it.
  double call_us = 0, launch_us = 0;
  bool operator==(const Calibration&) const = default;
};

/// Where that of this hardware is kept: below passnet_home().
std::filesystem::path calibration_file(const std::string& hardware, int threads);

/// What is kept; nullopt: nothing, or nothing that can be used, which is said.
std::optional<Calibration> load_calibration(const std::string& hardware, int threads);
/// That of the machine that a record was made on, which also tells its PyTorch.
std::optional<Calibration> calibration_of(const record::RunRecord& record);
/// Readers see the old one or this one, under a seal of this installation: an edited file is as good as none. Errors: Io; as
/// pass::installation_secret.
Result<void> store_calibration(const Calibration& calibration);

/// Asks a reference worker to measure; takes less than a second. Errors: of the worker; "nonsense".
Result<Calibration> calibrate(Worker& reference, const std::string& hardware, int threads,
                              std::chrono::milliseconds timeout);

/// What is kept, or measured now, which is said, and kept from now on. Errors: as calibrate().
Result<Calibration> known_calibration(Worker& reference, const std::string& hardware, int threads,
                                      std::chrono::milliseconds timeout);

/// As the kernel of the system tells them, the smallest first.
std::vector<CacheSize> cache_sizes();

/// "21 GB/s, 128 MiB at a time, and up to 180 GB/s, 32 KiB at a time; multiplies float32 at 130 GFLOP/s"
std::string describe(const Calibration& calibration);

}  // namespace passnet::run
