// A directory of graphs that is gone with its test.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/file/file.h"
#include "fx/graph_text.h"
#include "tests/scratch.h"

namespace passnet::dataset {

class TreeTest : public testing::Test {
 protected:
  void write(const std::filesystem::path& file, std::string_view text) const {
    const Result<void> written = write_file(root / file, text);
    ASSERT_TRUE(written) << to_string(written.error());
  }
  std::string read(const std::filesystem::path& file) const {
    return read_file(root / file, FileKind::Lines).value_or("(no such file)");
  }
  bool exists(const std::filesystem::path& file) const { return entry_exists(root / file); }

  /// A graph of one argument `a` of float32. body: "b = torch.relu(a)\nreturn (b,)".
  void write_graph(const std::filesystem::path& path, const std::string& body,
                   const std::string& shape = "[4, 8]") const {
    write(path / "model.py", fx::model_text("a", body));
    write(path / "weight_meta.py",
          fmt::format("class Program_weight_tensor_meta_a:\n    name = \"a\"\n    shape = {}\n    dtype = "
                      "\"torch.float32\"\n    device = \"cpu\"\n    mean = 0.0\n    std = 1.0\n",
                      shape));
    write(path / "graph_net.json", "{\"framework\": \"torch\"}");
    write(path / "graph_hash.txt", body);
  }

  const ScratchDirectory scratch;
  const std::filesystem::path& root = scratch.path;
};

inline const std::string kRelu = "b = torch.relu(a)\nreturn (b,)";
inline const std::string kReluMethod = "c = a.relu()\nreturn (c,)";  // the same by another spelling
inline const std::string kTanh = "b = torch.tanh(a)\nreturn (b,)";

}  // namespace passnet::dataset
