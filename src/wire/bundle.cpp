#include "wire/bundle.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/memory.h"
#include "base/text/strings.h"
#include "wire/tensor_entry.h"

namespace passnet::wire {

namespace {

constexpr int64_t kAlignment = 64;

Error io_message(std::string message) {
  Error error;
  error.kind = Error::Kind::Io;
  error.message = std::move(message);
  return error;
}

}  // namespace

int64_t Entry::size_bytes() const {
  int64_t bytes = ir::size_bytes(dtype);
  for (int64_t size : shape) bytes *= size;
  return bytes;
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, static_cast<size_t>(size_));
}

Result<Mapping> Mapping::map(int fd, int64_t size_bytes, int protection, int flags) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return io_message(fmt::format("cannot map shared memory: {}", std::strerror(errno)));
  if (size_bytes < 0 || info.st_size < size_bytes)
    return bad_input(fmt::format("shared memory holds {} bytes, expected {}", info.st_size, size_bytes));
  Mapping mapping;
  if (size_bytes == 0) return mapping;
  void* data = ::mmap(nullptr, static_cast<size_t>(size_bytes), protection, flags, fd, 0);
  if (data == MAP_FAILED)
    return io_message(fmt::format("cannot map {} bytes of shared memory: {}", size_bytes, std::strerror(errno)));
  mapping.data_ = static_cast<std::byte*>(data);
  mapping.size_ = size_bytes;
  return mapping;
}

Result<Mapping> Mapping::map(int fd, int64_t size_bytes, bool writable) {
  // A read-only view is private: a sealed memfd refuses shared mappings that could become writable.
  // All of it is about to be written or read: its pages come cheaper at once than one fault after the other.
  return writable ? map(fd, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE)
                  : map(fd, size_bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE);
}

Result<Mapping> Mapping::map_copy_on_write(int fd, int64_t size_bytes) {
  return map(fd, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE);
}

int64_t lay_out(std::vector<Entry>& entries) {
  int64_t end = 0;
  for (Entry& entry : entries) {
    entry.offset = (end + kAlignment - 1) / kAlignment * kAlignment;
    end = entry.offset + entry.size_bytes();
  }
  return end;
}

int64_t extent_bytes(std::span<const Entry> entries) {
  int64_t end = 0;
  for (const Entry& entry : entries) end = std::max(end, entry.offset + entry.size_bytes());
  return end;
}

Result<UniqueFd> create_memory(const std::string& name, int64_t size_bytes) {
  PASSNET_TRY_VOID(require_memory(name.c_str(), static_cast<double>(size_bytes)));
  UniqueFd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return io_message(fmt::format("cannot create shared memory '{}': {}", name, std::strerror(errno)));
  if (::ftruncate(fd.get(), size_bytes) != 0)
    return resource_error(
        fmt::format("cannot reserve {} bytes of shared memory '{}': {}", size_bytes, name, std::strerror(errno)));
  return fd;
}

namespace {
Result<void> add_seals(int fd, int seals) {
  if (::fcntl(fd, F_ADD_SEALS, seals) != 0)
    return io_message(fmt::format("cannot seal shared memory: {}", std::strerror(errno)));
  return {};
}
}  // namespace

Result<void> seal(int fd) { return add_seals(fd, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW); }
Result<void> seal_size(int fd) { return add_seals(fd, F_SEAL_SHRINK | F_SEAL_GROW); }

Json to_json(std::span<const Entry> entries) {
  Json list = Json::array();
  for (const Entry& entry : entries) {
    list.push_back({{"name", entry.name},
                    {"dtype", std::string(ir::name(entry.dtype))},
                    {"shape", entry.shape},
                    {"offset", entry.offset}});
    if (!entry.rows_of.empty()) list.back()["rows_of"] = entry.rows_of;
  }
  return list;
}

Result<int64_t> checked_size_bytes(const Entry& entry) {
  int64_t bytes = ir::size_bytes(entry.dtype);
  for (int64_t size : entry.shape) {
    if (size < 0) return bad_input(fmt::format("tensor {}: negative size {}", passnet::quoted(entry.name), size));
    if (__builtin_mul_overflow(bytes, size, &bytes))
      return bad_input(fmt::format("tensor {}: its size does not fit in 64 bits", passnet::quoted(entry.name)));
  }
  return bytes;
}

Result<void> check_extents(std::span<const Entry> entries, int64_t size_bytes) {
  std::vector<std::pair<int64_t, int64_t>> extents;  // first byte, end
  for (const Entry& entry : entries) {
    PASSNET_TRY(const int64_t bytes, checked_size_bytes(entry));
    if (entry.offset < 0 || entry.offset > size_bytes || bytes > size_bytes - entry.offset)
      return bad_input(fmt::format("tensor {}: bytes {} to {}, but there are {}", passnet::quoted(entry.name),
                                   entry.offset, entry.offset + bytes, size_bytes));
    if (bytes > 0) extents.emplace_back(entry.offset, entry.offset + bytes);
  }
  std::sort(extents.begin(), extents.end());
  for (size_t i = 1; i < extents.size(); ++i) {
    if (extents[i].first < extents[i - 1].second)
      return bad_input(fmt::format("two tensors overlap at byte {}", extents[i].first));
  }
  return {};
}

Result<std::vector<int64_t>> shape_from_json(const Json& json, const std::string& name) {
  if (!json.is_array()) return bad_input(fmt::format("tensor {}: shape is not a list", passnet::quoted(name)));
  std::vector<int64_t> shape;
  for (const Json& size : json) {
    if (!size.is_number_integer())
      return bad_input(fmt::format("tensor {}: a size is not an integer", passnet::quoted(name)));
    shape.push_back(size.get<int64_t>());
  }
  return shape;
}

Result<std::vector<Entry>> entries_from_json(const Json& json, int64_t size_bytes) {
  if (!json.is_array()) return bad_input("tensors: expected a list");
  std::vector<Entry> entries;
  for (const Json& item : json) {
    if (!item.is_object() || !item.contains("name") || !item["name"].is_string() || !item.contains("dtype") ||
        !item["dtype"].is_string() || !item.contains("shape") || !item.contains("offset") ||
        !item["offset"].is_number_integer())
      return bad_input(fmt::format("tensor {}: expected an object with name, dtype, shape and offset", entries.size()));
    Entry entry;
    entry.name = item["name"].get<std::string>();
    const auto text = item["dtype"].get<std::string>();
    const auto dtype = ir::parse_dtype(text);
    if (!dtype)
      return bad_input(fmt::format("tensor {}: unknown dtype {}", passnet::quoted(entry.name), passnet::quoted(text)));
    entry.dtype = *dtype;
    PASSNET_TRY(entry.shape, shape_from_json(item["shape"], entry.name));
    if (item.contains("rows_of")) {
      PASSNET_TRY(entry.rows_of, shape_from_json(item["rows_of"], entry.name));
    }
    entry.offset = item["offset"].get<int64_t>();
    if (entry.offset % ir::size_bytes(entry.dtype) != 0)
      return bad_input(fmt::format("tensor {}: offset {} is not a multiple of its element size {}",
                                   passnet::quoted(entry.name), entry.offset, ir::size_bytes(entry.dtype)));
    entries.push_back(std::move(entry));
  }
  PASSNET_TRY_VOID(check_extents(entries, size_bytes));
  return entries;
}

}  // namespace passnet::wire
