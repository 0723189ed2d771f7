// F.safetensors: 8 bytes little-endian length, a JSON object of that many bytes, then the tensors' bytes.
// Each key of the object is a tensor {"dtype", "shape", "data_offsets": [first, end]}, "__metadata__" is free
// text.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file/file.h"
#include "base/text/strings.h"
#include "wire/bundle.h"
#include "wire/tensor_entry.h"

namespace passnet::wire {

namespace {

struct Row {
  ir::DType dtype;
  std::string_view name;
};
constexpr std::array<Row, 11> kNames{{{ir::DType::Float32, "F32"},
                                      {ir::DType::Float64, "F64"},
                                      {ir::DType::Float16, "F16"},
                                      {ir::DType::BFloat16, "BF16"},
                                      {ir::DType::Int64, "I64"},
                                      {ir::DType::Int32, "I32"},
                                      {ir::DType::Int16, "I16"},
                                      {ir::DType::Int8, "I8"},
                                      {ir::DType::UInt8, "U8"},
                                      {ir::DType::Bool, "BOOL"},
                                      {ir::DType::Complex64, "C64"}}};

constexpr uint64_t kMaxHeader = 100u << 20;

Result<Entry> parse_entry(const std::string& name, const Json& item) {
  Entry entry;
  entry.name = name;
  if (!item.is_object() || !item.contains("dtype") || !item["dtype"].is_string() || !item.contains("shape") ||
      !item.contains("data_offsets"))
    return bad_input(
        fmt::format("tensor {}: expected an object with dtype, shape and data_offsets", passnet::quoted(name)));
  const auto text = item["dtype"].get<std::string>();
  const Row* row = nullptr;
  for (const Row& candidate : kNames) {
    if (candidate.name == text) row = &candidate;
  }
  if (row == nullptr)
    return unsupported(
        fmt::format("tensor {}: dtype {} is not one that can be read", passnet::quoted(name), passnet::quoted(text)));
  entry.dtype = row->dtype;
  PASSNET_TRY(entry.shape, shape_from_json(item["shape"], name));
  PASSNET_TRY(const auto offsets, shape_from_json(item["data_offsets"], name));
  PASSNET_TRY(const int64_t bytes, checked_size_bytes(entry));
  if (offsets.size() != 2 || offsets[0] < 0 || offsets[1] < offsets[0] || offsets[1] - offsets[0] != bytes)
    return bad_input(fmt::format("tensor {}: data_offsets {}, expected a range of {} bytes", passnet::quoted(name),
                                 item["data_offsets"].dump(), bytes));
  entry.offset = offsets[0];
  return entry;
}

Result<std::vector<Entry>> parse_file(std::string_view content) {
  uint64_t length = 0;
  if (content.size() < sizeof length)
    return bad_input(fmt::format("not a safetensors file: {} bytes, expected at least 8", content.size()));
  for (size_t i = 0; i < sizeof length; ++i) length |= uint64_t{static_cast<unsigned char>(content[i])} << (8 * i);
  const uint64_t left = content.size() - sizeof length;
  if (length > kMaxHeader || length > left)
    return bad_input(fmt::format("not a safetensors file: header of {} bytes, but {} follow", length, left));
  PASSNET_TRY(const Json header, parse_json(content.substr(sizeof length, length), "header"));
  if (!header.is_object()) return bad_input("not a safetensors file: the header is not a JSON object");
  std::vector<Entry> entries;
  for (const auto& [name, item] : header.items()) {
    if (name == "__metadata__") continue;
    PASSNET_TRY(Entry entry, parse_entry(name, item));
    entries.push_back(std::move(entry));
  }
  PASSNET_TRY_VOID(check_extents(entries, static_cast<int64_t>(left - length)));
  int64_t end = 0;
  for (const Entry& entry : entries) end = std::max(end, entry.offset + entry.size_bytes());
  if (std::cmp_not_equal(end, left - length))
    return bad_input(fmt::format("{} bytes of tensors, expected {}, where the last one ends", left - length, end));
  for (Entry& entry : entries) entry.offset += static_cast<int64_t>(sizeof length + length);
  return entries;
}

Result<Mapping> map_file(const std::string& path) {
  PASSNET_TRY(const UniqueFd fd, open_file(path));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return io_error("read", path, errno);
  return Mapping::map(fd.get(), info.st_size, false);
}

}  // namespace

Result<TensorFile> load_safetensors(const std::string& path) {
  TensorFile file;
  PASSNET_TRY(file.memory, map_file(path));
  auto entries =
      parse_file({reinterpret_cast<const char*>(file.memory.data()), static_cast<size_t>(file.memory.size_bytes())});
  if (!entries) {
    Error error = std::move(entries).error();
    error.at = SourceLoc{path, 0, 0};
    return error;
  }
  file.entries = std::move(*entries);
  return file;
}

Result<void> save_safetensors(const std::string& path, std::span<const SavedTensor> tensors) {
  Json header = Json::object();
  int64_t end = 0;
  std::vector<std::string_view> parts(2);
  for (const SavedTensor& tensor : tensors) {
    const Entry& entry = *tensor.entry;
    const Row* row = nullptr;
    for (const Row& candidate : kNames) {
      if (candidate.dtype == entry.dtype) row = &candidate;
    }
    if (row == nullptr)
      return unsupported(
          fmt::format("tensor {}: safetensors has no dtype '{}'", passnet::quoted(entry.name), ir::name(entry.dtype)));
    const int64_t first = end;
    end += entry.size_bytes();
    header[entry.name] = {{"dtype", std::string(row->name)}, {"shape", entry.shape}, {"data_offsets", {first, end}}};
    parts.emplace_back(reinterpret_cast<const char*>(tensor.data), static_cast<size_t>(entry.size_bytes()));
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // the data starts at a multiple of 8
  std::array<char, 8> length{};
  for (size_t i = 0; i < length.size(); ++i) length[i] = static_cast<char>(text.size() >> (8 * i));
  parts[0] = {length.data(), length.size()};
  parts[1] = text;
  return write_file(path, parts);
}

}  // namespace passnet::wire
