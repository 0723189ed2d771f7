// Tensors in shared memory: one memfd and a list of what lies where ("BUNDLE" in docs/protocol.md).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/json/json.h"
#include "base/result.h"
#include "ir/tensor_type.h"

namespace passnet::wire {

/// A tensor inside a bundle: contiguous, row-major, at a multiple of 64 bytes.
struct Entry {
  std::string name;
  ir::DType dtype = ir::DType::Float32;
  std::vector<int64_t> shape;
  int64_t offset = 0;  // bytes
  /// The shape of the tensor of which these are some rows; empty: it is whole.
  std::vector<int64_t> rows_of = {};
  int64_t size_bytes() const;
};

/// A mapping of a bundle's memory, unmapped by its destructor.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  /// writable: false maps the memory read-only.
  /// Errors:   Io; BadInput when the descriptor holds fewer than `size_bytes` bytes.
  static Result<Mapping> map(int fd, int64_t size_bytes, bool writable);
  /// A writable view whose pages are copied when they are written: neither the bundle nor other mappings change,
  /// and what is not written takes no memory of its own. Errors: as map().
  static Result<Mapping> map_copy_on_write(int fd, int64_t size_bytes);
  std::byte* data() const { return data_; }
  int64_t size_bytes() const { return size_; }

 private:
  static Result<Mapping> map(int fd, int64_t size_bytes, int protection, int flags);

  std::byte* data_ = nullptr;
  int64_t size_ = 0;
};

/// Lays the entries out one after the other: sets their `offset`.
/// Returns: the bytes that they need together.
int64_t lay_out(std::vector<Entry>& entries);
/// Returns: the bytes that entries need that are laid out.
int64_t extent_bytes(std::span<const Entry> entries);
/// name:     of the memfd, as /proc shows it.
/// Returns:  a new memfd of `size_bytes` bytes.
/// Errors:   Resource when there is less memory; Io.
Result<UniqueFd> create_memory(const std::string& name, int64_t size_bytes);
/// Forbids any change through descriptors and new writable mappings (F_SEAL_WRITE | SHRINK | GROW). REQUIRES: no
/// writable mapping left.
Result<void> seal(int fd);
/// Forbids that it gets shorter or longer; who holds it may write to it again.
Result<void> seal_size(int fd);

/// Memory of a GPU in which another process on it leaves tensors for the one that made the room.
struct DeviceRoom {
  int64_t size_bytes = 0;  // 0: there is none; through shared memory it is as fast, or there is no space
  UniqueFd memory;         // stands for it
};

Json to_json(std::span<const Entry> entries);
/// Errors: BadInput: an unknown dtype, a negative size, entries that overlap, an entry that ends after `size_bytes`.
Result<std::vector<Entry>> entries_from_json(const Json& json, int64_t size_bytes);

/// F.safetensors: the interchange format of `passnet run`.
struct TensorFile {
  std::vector<Entry> entries;  // offsets into `memory`
  Mapping memory;              // the file, read-only
};
/// Maps the file and does not read it: a tensor takes memory once it is looked at.
/// Errors: Io; BadInput: not a safetensors file, or one that contradicts itself.
Result<TensorFile> load_safetensors(const std::string& path);

/// A tensor to be saved, and where its bytes are; the entry's offset is not used.
struct SavedTensor {
  const Entry* entry = nullptr;
  const std::byte* data = nullptr;
};
/// Errors: Io, Unsupported (a dtype that the format lacks).
Result<void> save_safetensors(const std::string& path, std::span<const SavedTensor> tensors);

}  // namespace passnet::wire
