// A worker that misbehaves, each way under its own name (a copy of this binary): what control must survive.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "wire/frame.h"

using namespace std::chrono_literals;

int main(int, char** argv) {
  const char* slash = std::strrchr(argv[0], '/');
  const std::string name = slash ? slash + 1 : argv[0];
  constexpr int kSocket = 3;
  if (name == "fake_exits_at_once") return 7;
  for (;;) {
    passnet::Result<passnet::wire::Message> message = passnet::wire::receive_message(kSocket, 60s);
    if (!message) return 0;
    const auto reply = [](const std::string& json) { (void)passnet::wire::send_message(kSocket, json); };
    if (name == "fake_crashes")
      std::raise(SIGSEGV);
    else if (name == "fake_hangs")
      ::sleep(600);
    else if (name == "fake_no_json")
      reply("certainly not JSON");
    else if (name == "fake_no_ok")
      reply(R"({"version": 1})");
    else if (name == "fake_wrong_types")
      reply(R"({"ok": "yes"})");
    else if (name == "fake_refuses")
      reply(
          R"({"ok": false, "kind": "unsupported", "error": "no such operator", "at": {"file": "model.py", "line": 3, "column": 9}, "hint": "write it"})");
    else if (name == "fake_no_memory")
      reply(R"({"ok": true, "outputs": [], "times_us": [1.0]})");
    else if (name == "fake_huge_frame") {
      const unsigned char length[4] = {0xff, 0xff, 0xff, 0x7f};
      if (::write(kSocket, length, sizeof length) < 0) return 1;
    }
  }
}
