#include "bundle/bundle.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/hash.h"
#include "bundle/target.h"
#include "tests/paths.h"
#include "tests/scratch.h"

namespace passnet::bundle {
namespace {

const std::string kObject = "an object";
const std::array<float, 2> kWeight{1.5f, -2.0f};

Manifest manifest() {
  Plan plan{"x86-64-v3", "", "a model", try_parse_json(R"([{"pass":"p"}])"), {}};
  plan.kernels = {{{"kernels/k.so", "passnet_run_k", {"const float*", "int64_t"}, sha256_hex(kObject)}}};
  return {"sample/graph", "0.2.0", "2.11.0", {"p"}, {"w"}, {plan}};
}

std::vector<Part> parts() {
  const std::string_view weight(reinterpret_cast<const char*>(kWeight.data()), sizeof kWeight);
  return {
      {"kernels/k.so", kObject}, {"graph/model.py", "import torch"}, {"weights/w", weight, ir::DType::Float32, {2}}};
}

/// A bundle on disk, and its bytes.
struct Written {
  ScratchDirectory scratch;
  std::string path = (scratch.path / "m.passnet").string();
  std::string bytes;

  explicit Written(const Manifest& of = manifest(), std::vector<Part> with = parts()) {
    EXPECT_TRUE(write(path, of, std::move(with)));
    bytes = read_file(path, FileKind::Object).value_or("");
  }
  /// What read() says of other bytes in its place.
  std::string refusal(const std::string& other) const {
    EXPECT_TRUE(write_file(path, other));
    const auto bundle = read(path);
    if (bundle) return "accepted";
    EXPECT_TRUE(bundle.error().at && bundle.error().at->file == path);
    return bundle.error().message;
  }
};

/// The same bytes with one text in place of another of the same length.
std::string replaced(std::string bytes, std::string_view text, std::string_view by) {
  const size_t at = bytes.find(text);
  EXPECT_TRUE(at != std::string::npos && text.size() == by.size()) << text;
  return bytes.replace(at, text.size(), by);
}

TEST(Bundle, ReadsBackWhatItWrote) {
  const Written written;
  const auto bundle = read(written.path);
  ASSERT_TRUE(bundle) << to_string(bundle.error());
  const Manifest& found = bundle->manifest;
  EXPECT_EQ(found.graph, "sample/graph");
  EXPECT_EQ(found.passes, std::vector<std::string>{"p"});
  EXPECT_EQ(found.weights, std::vector<std::string>{"w"});
  ASSERT_EQ(found.plans.size(), 1u);
  EXPECT_EQ(*found.plans[0].lists, try_parse_json(R"([{"pass":"p"}])"));
  EXPECT_EQ(found.plans[0].kernels[0][0].entry, "passnet_run_k");
  EXPECT_EQ(bundle->bytes(*bundle->find("kernels/k.so")), kObject);
  const wire::Entry* const weight = bundle->find("weights/w");
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->shape, std::vector<int64_t>{2});
  EXPECT_EQ(std::memcmp(bundle->bytes(*weight).data(), kWeight.data(), sizeof kWeight), 0);
  EXPECT_EQ(weight->offset % 4, 0);
}

TEST(Bundle, ReadsFilesOfVersion1) {
  const std::filesystem::path files = tests::source_dir() / "tests/data/bundles";
  const auto bundle = read(files / "version_1.passnet");
  ASSERT_TRUE(bundle) << to_string(bundle.error());
  EXPECT_EQ(bundle->bytes(*bundle->find(kModel)), "import torch\n");
  EXPECT_EQ(read(files / "version_2.passnet").error().message, "a bundle of version 2, this PassNet reads version 1");
  EXPECT_EQ(read(files / "damaged.passnet").error().message,
            "the bundle is damaged: the part 'graph/model.py' is not the one that was written");
}

TEST(Bundle, HasTheSameBytesForTheSameContent) {
  std::vector<Part> turned = parts();
  std::ranges::reverse(turned);
  EXPECT_EQ(Written().bytes, Written(manifest(), turned).bytes);
}

TEST(Bundle, RefusesDamagedPartsByName) {
  const Written written;
  EXPECT_EQ(written.refusal(replaced(written.bytes, "an object", "an 0bject")),
            "the bundle is damaged: the part 'kernels/k.so' is not the one that was written");
  EXPECT_EQ(written.refusal(replaced(written.bytes, R"("shape":[2])", R"("shape":[1])")),
            "tensor 'weights/w': data_offsets [0,8], expected a range of 4 bytes");
  EXPECT_EQ(written.refusal(replaced(written.bytes, "sample/graph", "sample/other")),
            "the bundle is damaged: manifest.json has another SHA-256");
  EXPECT_EQ(written.refusal(replaced(written.bytes, "\"graph/model.py\"", "\"graph/m0del.py\"")),
            "the bundle is damaged: it has no part 'graph/model.py'");
}

TEST(Bundle, RefusesPartsThatAreMissing) {
  Manifest other = manifest();
  other.weights.push_back("v");
  EXPECT_EQ(Written().refusal(Written(other).bytes), "the bundle is damaged: it has no part 'weights/v'");
}

TEST(Bundle, RefusesForeignFiles) {
  const Written written;
  EXPECT_EQ(written.refusal("PK\x03\x04 a zip file"),
            "not a safetensors file: header of 8800140462016121680 bytes, but 7 follow");
  const std::string header = R"({"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})";
  EXPECT_EQ(written.refusal(std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') + header),
            "a safetensors file without 'manifest.json', expected a bundle of PassNet");
}

/// The same bundle with one text of its manifest in place of another, sealed anew.
std::string resealed(const std::string& bytes, std::string_view text, std::string_view by) {
  std::string other = replaced(bytes, text, by);
  const size_t at = bytes.find("{\n \"bundle\"");
  const size_t seal = other.size() - 64;
  return other.replace(seal, 64, sha256_hex(std::string_view(other).substr(at, seal - at)));
}

TEST(Bundle, RefusesNewerVersionsByNumber) {
  const Written written;
  EXPECT_EQ(written.refusal(resealed(written.bytes, "\"bundle\": 1,", "\"bundle\": 2,")),
            "a bundle of version 2, this PassNet reads version 1");
}

TEST(Bundle, RefusesManifestsOfAnotherForm) {
  const Written written;
  EXPECT_EQ(written.refusal(resealed(written.bytes, "\"bundle\": 1,", "\"bundel\": 1,")),
            "manifest.json has no version of bundles, expected a bundle of PassNet");
  EXPECT_EQ(written.refusal(resealed(written.bytes, "\"plans\": [", "\"plan5\": [")),
            "manifest.json: field 'plans' is missing, expected an array of objects");
  EXPECT_EQ(written.refusal(resealed(written.bytes, "\"sha256\": ", "\"sha25x\": ")),
            "the bundle is damaged: kernel 'kernels/k.so' has no 'sha256'");
  EXPECT_EQ(written.refusal(resealed(written.bytes, "\"parts\": [", "\"part5\": [")),
            "manifest.json is not understood: [json.exception.out_of_range.403] key 'parts' not found");
}

TEST(Bundle, EndsWithoutHarmWhereverItIsCut) {
  const Written written;
  for (size_t size = 0; size < written.bytes.size(); size += 7)
    EXPECT_NE(written.refusal(written.bytes.substr(0, size)), "accepted") << size;
}

TEST(Bundle, NoticesEveryChangedByte) {
  const Written written;
  for (size_t i = 8; i < written.bytes.size(); i += 5) {
    std::string other = written.bytes;
    other[i] = static_cast<char>(other[i] ^ 1);
    EXPECT_NE(written.refusal(other), "accepted") << i;
  }
}

TEST(Target, NamesWhatItExpects) {
  EXPECT_EQ(architecture_of("cpu").value(), "");
  EXPECT_EQ(architecture_of("x86-64-v4").value(), "x86-64-v4");
  EXPECT_EQ(architecture_of("sm_90").value(), "sm_90");
  EXPECT_EQ(architecture_of("avx2").error().message,
            "target 'avx2', expected 'cpu', 'x86-64-v3', 'x86-64-v4', or a GPU such as 'sm_90'");
}

TEST(Target, ChoosesKernelsThatRunHere) {
  Manifest of{"g", "0.2.0", "2.11.0", {}, {}, std::vector<Plan>(3)};
  of.plans[0].target = "sm_90";
  of.plans[1].target = "x86-64-v3";
  of.plans[2].target = "cpu";
  of.plans[2].processor = this_processor();
  std::string why;
  EXPECT_EQ(choose_plan(of, "2.11.0", why), &of.plans[2]);
  of.plans[2].processor = "another";
  EXPECT_EQ(choose_plan(of, "2.11.0", why), &of.plans[1]);
  EXPECT_EQ(choose_plan(of, "2.12.0", why), nullptr);
  EXPECT_EQ(why, "its passes were judged with torch 2.11.0, found 2.12.0");
  of.plans.resize(1);
  EXPECT_EQ(choose_plan(of, "2.11.0", why), nullptr);
  EXPECT_EQ(why, "its kernels are for sm_90, not for this processor");
}

}  // namespace
}  // namespace passnet::bundle
