#include "pass/kernel/object_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/log.h"
#include "base/text/strings.h"
#include "pass/kernel/object_seal.h"

namespace passnet::pass {

Result<CacheEntry> find_entry(const fs::path& cache_dir, const std::string& key, const std::string& extension) {
  const fs::path cache = absolute_path(cache_dir.empty() ? passnet_home() / "kernels" : cache_dir);
  PASSNET_TRY(std::string secret, installation_secret());
  return CacheEntry{cache / key.substr(0, 2) / (key + extension), key, std::move(secret)};
}

std::optional<std::string> read_kept(const CacheEntry& entry) {
  Result<std::string> bytes = read_file(entry.object, FileKind::Object);
  if (!bytes) return std::nullopt;
  const std::string broken = broken_seal(entry.object, entry.secret, entry.key, *bytes);
  if (broken.empty()) return std::move(*bytes);
  log::warn(fmt::format("kernel cache: {} is built again: {}", quoted(entry.object.string(), 300), broken));
  return std::nullopt;
}

Result<void> keep(const CacheEntry& entry, const fs::path& written, std::string_view bytes) {
  PASSNET_TRY_VOID(write_seal(entry.object, entry.secret, entry.key, bytes));
  if (::rename(written.c_str(), entry.object.c_str()) != 0) return io_error("rename to", entry.object.string(), errno);
  return {};
}

}  // namespace passnet::pass
