// Texts made to hurt: each is read, or refused with a message, within seconds and within memory that is
// bounded by its size. Every case runs in a process of its own, which measures itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/json/json.h"
#include "graph_text.h"
#include "graphdir/graph_check.h"
#include "graphdir/inputs/constraints.h"
#include "graphdir/inputs/meta.h"
#include "tests/tiers.h"

namespace passnet::fx {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Full tier: texts are five times as long.
const bool kFull = full_tier();
// Processor time. A linear reader takes a second or two on any machine; one whose time grows with the square of a text
// takes half a minute, for the full lengths a quarter of an hour.
const double kMaxSeconds = kFull ? 60 : 12;
// Under a sanitizer it is several times as large, and says nothing.
#if defined(__SANITIZE_ADDRESS__)
constexpr double kMaxBytesOverText = 400;
#else
constexpr double kMaxBytesOverText = 40;
#endif
constexpr size_t kFixedBytes = size_t{64} << 20;

struct Outcome {
  std::string message;  // "read", or the error
  double seconds = 0;   // of processor time, to make and to read the text
  size_t peak_bytes = 0;
};

/// Runs `read` in a child on the text that `make` makes there; "" when the child died.
Outcome run(const std::function<std::string()>& make, const std::function<std::string(const std::string&)>& read) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = make();
    const std::string message = read(text).substr(0, 400);
    const bool written = ::write(ends[1], message.data(), message.size()) == static_cast<ssize_t>(message.size());
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  Outcome outcome;
  char buffer[512];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    outcome.message.append(buffer, static_cast<size_t>(got));
  ::close(ends[0]);
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  if (!WIFEXITED(status)) outcome.message = "died of signal " + std::to_string(WTERMSIG(status));
  outcome.seconds = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                    static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
  outcome.peak_bytes = static_cast<size_t>(usage.ru_maxrss) * 1024;
  return outcome;
}

std::string repeat(std::string_view part, size_t count) {
  std::string text;
  text.reserve(part.size() * count);
  for (size_t i = 0; i < count; ++i) text += part;
  return text;
}

/// The message for a text, after checking what it cost.
std::string cost(size_t size_bytes, const Outcome& outcome, size_t fixed_bytes = kFixedBytes) {
  EXPECT_LE(outcome.seconds, kMaxSeconds);
  EXPECT_LE(static_cast<double>(outcome.peak_bytes),
            static_cast<double>(fixed_bytes) + kMaxBytesOverText * static_cast<double>(size_bytes));
  return outcome.message;
}

/// Reads a model.py and prints it back. fixed_bytes: more where a node is as short as two bytes.
std::string model(const std::function<std::string()>& make, size_t fixed_bytes = kFixedBytes) {
  return cost(make().size(),
              run(make,
                  [](const std::string& text) {
                    auto graph = parse_text(text);
                    if (!graph) return to_string(graph.error());
                    const auto again = parse_text(print_model(*graph));
                    return std::string(again && equal(*graph, *again) ? "read" : "reads back different");
                  }),
              fixed_bytes);
}
std::string body(const std::function<std::string()>& make) {
  return model([&] { return model_text("a", make()); });
}

const size_t kMany = kFull ? 1'000'000 : 200'000;

TEST(Hostile, NestingBombs) {
  constexpr const char* kTooDeep = "nested too deeply: more than 256 levels";
  EXPECT_THAT(body([] { return "r = " + repeat("(", kMany); }), HasSubstr(kTooDeep));
  EXPECT_THAT(body([] { return "r = " + repeat("[", kMany); }), HasSubstr(kTooDeep));
  EXPECT_THAT(body([] { return "r = " + repeat("a[", kMany); }), HasSubstr(kTooDeep));
  EXPECT_THAT(body([] { return "r = " + repeat("-", kMany) + "a"; }), HasSubstr(kTooDeep));
  EXPECT_THAT(body([] { return "r = " + repeat("a ** ", kMany) + "a"; }), HasSubstr(kTooDeep));
  EXPECT_THAT(body([] { return "r = " + repeat("torch.relu(", 100'000) + "a"; }), HasSubstr(kTooDeep));
  EXPECT_THAT(body([] { return repeat("(", kMany) + "r = a"; }), HasSubstr("model.py:6:"));
}

TEST(Hostile, HugeLiterals) {
  EXPECT_THAT(model([] { return std::string((size_t{64} << 20) + 1, '7'); }), HasSubstr("the text is too large"));
  EXPECT_THAT(body([] { return "r = " + std::string(size_t{60} << 20, '7'); }), HasSubstr("is out of range"));
  EXPECT_THAT(body([] { return "r = 0." + std::string(size_t{60} << 20, '7'); }), HasSubstr("number is too long"));
  EXPECT_THAT(body([] { return "r = '" + std::string(size_t{60} << 20, 'x') + "'\nreturn (a,)"; }), HasSubstr("read"));
  EXPECT_THAT(body([] { return "r = " + std::string(size_t{60} << 20, 'x'); }), HasSubstr("is not defined"));
}

TEST(Hostile, BytesThatAreNoText) {
  EXPECT_THAT(model([] { return std::string(kMany, '\0'); }), HasSubstr("model.py:1:1: error: found a NUL byte"));
  EXPECT_THAT(model([] { return std::string(kMany, '\xff'); }), HasSubstr("byte 0xff, which is not valid UTF-8"));
  EXPECT_THAT(model([] { return model_text("a", "return (a,)") + std::string(1, '\0'); }), HasSubstr("a NUL byte"));
  EXPECT_THAT(model([] { return "import torch\n# \xed\xa0\x80\n"; }), HasSubstr("not valid UTF-8"));
}

/// The same for texts of very many nodes: their count is bounded, and so are their bytes.
std::string many_nodes(const std::function<std::string()>& make) {
  return model([&] { return model_text("a", make()); }, size_t{768} << 20);
}

TEST(Hostile, ManyOfEverything) {
  EXPECT_EQ(body([] { return "r = torch.cat(" + repeat("a, ", kMany) + ")\nreturn (r,)"; }), "read");
  EXPECT_EQ(body([] { return "r = torch.cat([" + repeat("1, ", kMany) + "])\nreturn (r,)"; }), "read");
  EXPECT_EQ(many_nodes([] { return repeat("a.relu_()\n", kMany) + "return (a,)"; }), "read");
  EXPECT_EQ(many_nodes([] { return "r = a" + repeat(" + a", kMany) + "\nreturn (r,)"; }), "read");
  EXPECT_EQ(many_nodes([] { return "r = a" + repeat(".T", kMany) + "\nreturn (r,)"; }), "read");
  EXPECT_EQ(body([] { return repeat("r = ", kMany) + "a.sum()\nreturn (r,)"; }), "read");
  EXPECT_EQ(body([] { return repeat("a = ", kMany) + "None\nreturn ()"; }), "read");
  EXPECT_EQ(many_nodes([] { return repeat("r = a.sum()\n", kMany) + "return (r,)"; }), "read");
  EXPECT_THAT(many_nodes([] { return "r = a" + repeat(".T", 20 * kMany); }),
              HasSubstr("the graph is too large: more than 1048576 nodes"));
  EXPECT_EQ(body([] { return repeat("pass_ = 1;", kMany) + "return (a,)"; }), "read");
  EXPECT_EQ(body([] { return "r = torch" + repeat(".x", kMany) + "(a)\nreturn (r,)"; }), "read");
  EXPECT_THAT(body([] { return "r = torch.f(" + repeat("a=1, ", kMany) + ")"; }),
              HasSubstr("keyword 'a' is given twice"));
  EXPECT_THAT(model([] { return "import torch\n" + repeat("\n", 10 * kMany); }),
              HasSubstr("error: expected an import"));
}

TEST(Hostile, Records) {
  const auto meta = [](const std::function<std::string()>& make) {
    return cost(make().size(), run(make, [](const std::string& text) {
                  const auto records = graphdir::parse_meta("m.py", text);
                  return records ? std::string("read") : to_string(records.error());
                }));
  };
  const std::string head = "class T:\n name = 't'\n dtype = 'torch.int64'\n ";
  EXPECT_EQ(
      meta([&] { return head + "shape = [" + std::to_string(kMany) + "]\n data = [" + repeat("1, ", kMany) + "]\n"; }),
      "read");
  EXPECT_THAT(meta([&] { return head + "shape = [" + repeat("9, ", kMany) + "]\n"; }), HasSubstr("too many elements"));
  EXPECT_THAT(meta([&] { return head + "shape = [" + std::string(kMany, '9') + "]\n"; }), HasSubstr("out of range"));
  EXPECT_THAT(meta([&] { return head + "data = " + repeat("[", kMany); }), HasSubstr("expected a number"));
  EXPECT_THAT(meta([] { return repeat("class ", kMany); }), HasSubstr("m.py:1:"));
}

TEST(Hostile, Constraints) {
  const auto constraints = [](const std::function<std::string()>& make) {
    return cost(make().size(), run(make, [](const std::string& text) {
                  const auto read = graphdir::parse_constraints("c.py", text);
                  return read ? std::string("read") : to_string(read.error());
                }));
  };
  const auto relation = [&](const std::function<std::string()>& make) {
    return constraints([&] { return "S = Symbol('S')\ndynamic_dim_constraint_relations = [" + make(); });
  };
  EXPECT_THAT(relation([] { return repeat("(", kMany); }), HasSubstr("nested too deeply"));
  EXPECT_THAT(relation([] { return repeat("Max(", kMany); }), HasSubstr("nested too deeply"));
  EXPECT_THAT(relation([] { return repeat("S + ", kMany); }), HasSubstr("too long: more than 1000 terms"));
  EXPECT_THAT(relation([] { return repeat("S ** ", kMany); }), HasSubstr("too long"));
  EXPECT_THAT(relation([] { return std::string(kMany, '9'); }), HasSubstr("out of range"));
  EXPECT_THAT(constraints([] { return repeat("S = Symbol('S')\n", kMany); }), HasSubstr("defined twice"));
  EXPECT_THAT(constraints([] {
                std::string text;
                for (int i = 0; i < 100'000; ++i)
                  text += "S" + std::to_string(i) + " = Symbol('S" + std::to_string(i) + "')\n";
                return text;
              }),
              HasSubstr("too many symbols: more than 1000"));
}

TEST(Hostile, Json) {
  const auto json = [](const std::function<std::string()>& make) {
    return cost(make().size(), run(make, [](const std::string& text) {
                  const auto read = graphdir::check_description_text("g.json", text);
                  return read ? std::string("read") : to_string(read.error());
                }));
  };
  EXPECT_THAT(json([] { return repeat("[", kMany); }),
              StartsWith("g.json:1:257: error: not valid JSON: nested too deeply"));
  EXPECT_THAT(json([] { return repeat("{\"a\":", kMany); }), HasSubstr("nested too deeply"));
  EXPECT_THAT(json([] { return "{\"a\": \"" + repeat("[", kMany) + "\"}"; }), HasSubstr("read"));
  EXPECT_THAT(json([] { return std::string("{\"\xff\": 1}"); }), HasSubstr("not valid JSON"));
}

}  // namespace
}  // namespace passnet::fx
