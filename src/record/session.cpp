#include "record/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/json_object.h"
#include "record/record.h"

namespace passnet {

PASSNET_JSON_FIELDS(record::Session::SetAside, "superseded record", PASSNET_FIELDS(graph, number, sha256))

PASSNET_JSON_FIELDS(record::Session::Sample, "sample of a session",
                    PASSNET_FIELDS(name, graphs, passes, kernels, records, head)
                        PASSNET_FIELDS_IF_SET(superseded, unchained))

PASSNET_JSON_FIELDS(record::Session, "session",
                    PASSNET_FIELDS(version, number, previous, started, seed_given)
                        PASSNET_FIELDS_IF_SET(seed, seed_commitment) PASSNET_FIELDS(samples))

}  // namespace passnet

namespace passnet::record {

namespace {

constexpr const char* kSessionHint = "passnet verify RUN shows all that is wrong; evaluate again into another --out";

Result<Session> session_from_line(std::string_view line, const std::string& file) {
  PASSNET_TRY(const Json json, parse_json(line, file));
  return from_json_object<Session>(json);
}

// What is wrong with a line's place; empty when nothing is.
std::string misplaced(const Session& session, const std::vector<SessionLine>& before) {
  const int64_t expected = static_cast<int64_t>(before.size()) + 1;
  if (session.number != expected)
    return fmt::format("this is session {}, expected {}: a line was dropped, doubled or moved", session.number,
                       expected);
  const std::string head = before.empty() ? "" : before.back().sha256;
  if (session.previous == head) return "";
  return fmt::format("it was written after a line with SHA-256 {}, found one with {} before it: that was changed",
                     quoted(session.previous, 70), quoted(head, 70));
}

}  // namespace

const Session::Sample* Session::find(std::string_view name) const {
  const auto found = std::ranges::find(samples, name, &Sample::name);
  return found == samples.end() ? nullptr : &*found;
}

std::string seed_commitment(uint64_t seed, const std::string& nonce) {
  return sha256_hex(fmt::format("{}:{}", seed, nonce));
}

std::string session_line(const Session& session) { return dump(to_json_object(session)); }

Result<std::vector<SessionLine>> sessions_from_text(std::string_view text, const std::string& file) {
  std::vector<SessionLine> lines;
  std::optional<Error> bad;
  for_each_line(text, [&](uint32_t number, std::string_view line, bool whole) {
    Result<Session> session = session_from_line(line, file);
    if (!session && !whole) return false;
    std::string wrong = session ? misplaced(*session, lines) : "";
    if (session && wrong.empty()) {
      lines.push_back({std::move(*session), sha256_hex(line)});
      return true;
    }
    bad = session ? bad_input(std::move(wrong)).with_hint(kSessionHint) : std::move(session).error();
    bad->at = SourceLoc{file, number, bad->at ? bad->at->column : 1};
    return false;
  });
  if (bad) return std::move(*bad);
  return lines;
}

}  // namespace passnet::record
