// A stand-in for both workers that finds every graph right, except as the name of the graph's directory says:
//   full_after_two    the device is full when the process has loaded more than two graphs
//   candidate_full    the same of the candidate alone
//   always_full       the device is full
//   unclear           an error that may be the process's or the graph's, each time
//   asserts           an error after which the process can do nothing more; it ends
//   asserts_on_others as `asserts`, on integers other than the recorded ones
//   ROLE_fails_at_REQUEST, ROLE_ends_at_REQUEST: that worker refuses this request, or ends instead of answering it
//   refuses_rewritten the first trace succeeds, later ones do not
//   ROLE_clock_lies   that worker's calls take a hundred times as long as it says
//   ROLE_clock_boasts that worker's calls take a tenth as long as it says
//   device_clock_lies the clock of its device says a hundredth
//   takes_long        every call takes 2 s
//   hands_over        the candidate takes four calls at a time
//   turns             a traced value has other strides in each trace but the first
// Every other call takes 6 ms, by its word, and calls between two readings of the clock as much each: so a time tells how many
// there were.
// As device memory it tells how many graphs the process has loaded, which shows whether it is a fresh one.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "serve_requests.h"

using passnet::Json;

namespace {

using Clock = std::chrono::steady_clock;
double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

struct Script {
  bool candidate = false;
  int loads = 0, traces = 0;
  bool has_other_integers = false;
  std::string model;
  std::string file;

  bool is(const char* name) const { return file.find(std::string("/") + name) != std::string::npos; }

  Json failure(const char* kind, const char* message, const char* flag) const {
    return {{"ok", false}, {"kind", kind}, {"error", message}, {flag, true}};
  }
  Json run() const {
    const bool full =
        is("always_full") || (is("full_after_two") && loads > 2) || (is("candidate_full") && candidate && loads > 2);
    if (full) return failure("resource", "CUDA out of memory. Tried to allocate 20.00 GiB", "retry");
    if (is("unclear")) return failure("bad-input", "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED", "retry");
    if (is("asserts/") || (is("asserts_on_others") && has_other_integers))
      return failure("bad-input", "CUDA error: device-side assert triggered", "ends_worker");
    return {{"ok", true}, {"outputs", Json::array()}, {"scalars", {{"out_0", {{"int", 1}}}}}};
  }
  Json draw(const Json& request) {
    has_other_integers = false;
    for (const Json& record : request.at("weight_meta"))
      has_other_integers = has_other_integers || (request.value("profile", "recorded") != "recorded" &&
                                                  record.at("dtype") == "int64" && !record.contains("redraw"));
    return {{"ok", true}, {"tensors", Json::array()}};
  }
  // Every argument of forward and every name that is assigned to: float32[2, 4].
  Json trace() {
    const bool first = traces++ == 0;
    if (is("refuses_rewritten") && !first) return {{"ok", false}, {"kind", "unsupported"}, {"error", "not that shape"}};
    const std::vector<int> strides = is("turns") && !first ? std::vector<int>{1, 2 * traces} : std::vector<int>{4, 1};
    Json values = Json::object();
    const auto add = [&](const std::string& name) {
      values[name] = {{"dtype", "float32"}, {"shape", {2, 4}}, {"strides", strides}};
    };
    std::istringstream lines(model);
    for (std::string line; std::getline(lines, line);) {
      if (const size_t begin = line.find("(self, "); begin != std::string::npos) {
        std::istringstream names(line.substr(begin + 7, line.find(')') - begin - 7));
        for (std::string name; std::getline(names >> std::ws, name, ',');) add(name.substr(0, name.find(':')));
      } else if (const size_t end = line.find(" = "); end != std::string::npos) {
        add(line.substr(line.find_first_not_of(' '), end - line.find_first_not_of(' ')));
      }
    }
    return {{"ok", true}, {"values", values}};
  }
  // Calls that take at least 6 ms, on a busy machine more, and what they say by any clock.
  Json read_clocks(int64_t calls) const {
    const std::string role = candidate ? "candidate" : "reference";
    const double lie = is((role + "_clock_lies").c_str()) ? 0.01 : is((role + "_clock_boasts").c_str()) ? 10 : 1;
    const auto begin = Clock::now();
    for (int64_t i = 0; i < calls; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(6));
    const double took_us = us_since(begin);
    return {{"ok", true}, {"calls_us", lie * took_us}, {"device_us", took_us * (is("device_clock_lies") ? 0.01 : 1)}};
  }
  Json timed(const Json& request, size_t readings) const {
    const double call_us = is("takes_long") ? 2e6 : 6000;
    return {{"ok", true}, {"times_us", std::vector<double>(readings, call_us * request.at("together").get<double>())}};
  }
  bool is_to(const char* what, const std::string& request) const {
    return is(((candidate ? "candidate_" : "reference_") + std::string(what) + "_at_" + request + "/").c_str());
  }
  Json answer(const Json& request) {
    const std::string what = request.at("do").get<std::string>();
    if (what == "load" && request.at("id") != "float64")
      ++loads, file = request.at("file").get<std::string>(), model = request.at("model").get<std::string>();
    if (is_to("fails", what)) return {{"ok", false}, {"kind", "unsupported"}, {"error", "not today"}};
    if (is_to("ends", what)) std::exit(9);
    if (what == "trace") return trace();
    if (what == "load" && is("hands_over")) return {{"ok", true}, {"calls_at_once", candidate ? 4 : 1}};
    if (what == "time") return timed(request, request.at("calls").get<size_t>());
    if (what == "calibrate")
      return {{"ok", true},
              {"copies", {{{"bytes", 1 << 20}, {"gb_per_s", 10.0}}}},
              {"products", {{{"dtype", "float32"}, {"gflop_per_s", 100.0}}}}};
    if (what == "read_clocks") return read_clocks(request.at("calls").get<int64_t>());
    if (what == "make_call_sets")
      return {{"ok", true},
              {"tensors", Json::array()},
              {"stride", 64},
              {"sets", is("memory_holds_one_set") ? Json(1) : request.at("sets")}};
    if (what == "time_on_sets") {
      if (request.at("calls") < 1) return {{"ok", false}, {"kind", "bad input"}, {"error", "no calls"}};
      Json reply = timed(request, request.at("calls").get<size_t>() / request.at("together").get<size_t>());
      if (request.at("expected") == false) reply.update({{"outputs", Json::array()}, {"scalars", Json::object()}});
      return reply;
    }
    if (what == "hello") return {{"ok", true}, {"torch", "0"}, {"threads", 1}, {"hardware", "scripted"}};
    if (what == "inputs") return draw(request);
    if (what == "depends_on") return {{"ok", true}, {"depends", true}};
    if (what == "run") return run();
    if (what == "make_room") return {{"ok", true}, {"room_bytes", 0}};
    if (what == "compare" || what == "compare_calls")
      return passnet::compared_output("int", Json::array(), true, -10, 0);
    if (what == "judge")
      return {{"ok", true}, {"outputs", Json::array()}, {"null_models", Json::array()}, {"no_float64", ""}};
    if (what == "unload") return {{"ok", true}, {"device_memory", {{"peak_bytes", loads}, {"kept_bytes", 0}}}};
    return {{"ok", true}};
  }
};

}  // namespace

int main(int argc, char** argv) {
  Script script;
  for (int i = 1; i < argc; ++i) script.candidate = script.candidate || std::strcmp(argv[i], "candidate") == 0;
  return passnet::serve_requests([&](const Json& request) { return script.answer(request); });
}
