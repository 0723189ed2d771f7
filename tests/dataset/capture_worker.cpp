// A stand-in for the Python that captures models: `capture_worker LOG`. It appends what it is asked to LOG. The source
// "none" does not exist; others have the models below, and a model's name says what becomes of it:
//   good…, last  it is captured: a graph at OUT
//   slow…      the same, after what comes behind it in the list
//   fails      it is not
//   dies       the worker crashes
//   hangs      there is no answer; "ended" is in LOG when the worker was asked to end
//   leaves     it is captured, and the worker is gone before it is asked again
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "serve_requests.h"

using passnet::Json;

namespace {

namespace fs = std::filesystem;

Json capture(const Json& request, const char* log) {
  const auto model = request.at("model").get<std::string>();
  const fs::path out = request.at("out").get<std::string>(), graph = request.at("directory").get<std::string>();
  if (model == "dies") ::raise(SIGSEGV);
  Json entry{{"model", model}, {"source", "toys"}, {"status", "captured"}, {"seconds", 0.25}, {"licence", nullptr}};
  if (model == "hangs" || model == "fails") {
    fs::create_directories(out / ".partial" / model);
    if (model == "hangs" && passnet::wire::receive_message(3, std::chrono::seconds(600))) {
      std::ofstream(log, std::ios::app) << "ended\n";
      std::exit(0);
    }
    entry.update({{"status", "failed"}, {"cause", "trace"}, {"message", "found no shape"}});
    return {{"ok", true}, {"entry", entry}};
  }
  if (model.starts_with("slow")) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  fs::create_directories(out / graph / "b1");
  std::ofstream(out / graph / "b1" / "request.json") << request;
  entry["graphs"] = Json::array({(graph / "b1").string()});
  entry["shapes"] = {{"b1", "captured"}};
  return {{"ok", true}, {"entry", entry}};
}

}  // namespace

int main(int, char** argv) {
  bool leaves = false;
  return passnet::serve_requests([&](const Json& request) -> Json {
    if (leaves) ::raise(SIGKILL);
    if (request.at("do") == "capture") {
      std::ofstream(argv[1], std::ios::app) << request.at("model").get<std::string>() << '\n';
      leaves = request.at("model") == "leaves";
      return capture(request, argv[1]);
    }
    if (request.at("from") == "none")
      return {{"ok", false}, {"kind", "bad-input"}, {"error", "found 'none', expected toys"}};
    return {{"ok", true},
            {"source", "toys"},
            {"library_version", "1.0"},
            {"licence", "mit"},
            {"torch_version", "2"},
            {"models", {"slow", "good", "good/2", "fails", "dies", "leaves", "last", "hangs"}}};
  });
}
