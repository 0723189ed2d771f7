// Where built objects are kept, by what they were built from: each sealed (object_seal.h), whole or not there.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace passnet::pass {

/// One place in the cache.
struct CacheEntry {
  std::filesystem::path object;  // CACHE/ab/abcdef….cubin
  std::string key;               // SHA-256 of all that decides the object
  std::string secret;            // of this installation
};

/// cache_dir: empty for passnet_home()/kernels. extension: ".so", ".cubin". Errors: those of installation_secret.
Result<CacheEntry> find_entry(const std::filesystem::path& cache_dir, const std::string& key,
                              const std::string& extension);

/// The bytes that are kept there; none where there are none, or where their seal does not hold, which the log then says.
std::optional<std::string> read_kept(const CacheEntry& entry);

/// Puts a file, whose bytes these are, there. written: on the same file system. Errors: Io.
Result<void> keep(const CacheEntry& entry, const std::filesystem::path& written, std::string_view bytes);

}  // namespace passnet::pass
