#include "record/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/hash.h"
#include "base/json/json_object.h"
#include "record/record.h"

namespace passnet {

PASSNET_JSON_FIELDS(record::Session::SetAside, "superseded record", PASSNET_FIELDS(graph, number, sha256))

PASSNET_JSON_FIELDS(record::Session::Sample, "sample of a session",
                    PASSNET_FIELDS(name, graphs, passes, kernels, records, head)
                        PASSNET_FIELDS_IF_SET(superseded, unchained))

PASSNET_JSON_FIELDS(record::Session::Part, "part of a merged run", PASSNET_FIELDS(sessions, head, samples))

PASSNET_JSON_FIELDS(record::Session, "session",
                    PASSNET_FIELDS(version, number, previous, started, seed_given)
                        PASSNET_FIELDS_IF_SET(seed, seed_commitment) PASSNET_FIELDS(samples)
                            PASSNET_FIELDS_IF_SET(shard, merged))

}  // namespace passnet

namespace passnet::record {

namespace {

constexpr const char* kSessionHint = "passnet verify RUN shows all that is wrong; evaluate again into another --out";

Result<Session> session_from_line(std::string_view line, const std::string& file) {
  PASSNET_TRY(const Json json, parse_json(line, file));
  return from_json_object<Session>(json);
}

/// The lines of one run among those of a merged run.
struct Segment {
  uint32_t line = 0;  // of the file, where it begins
  size_t first = 0;   // position of its first session
};

std::string wrong_number(int64_t found, size_t before) {
  return fmt::format("this is session {}, expected {}: a line was dropped, doubled or moved", found, before + 1);
}

// Sessions keep only those samples whose records were taken: a doubled sample is that of one part.
void take_samples(std::vector<SessionLine>& lines, size_t first, const Session::Part& part) {
  const std::unordered_set<std::string_view> taken(part.samples.begin(), part.samples.end());
  for (size_t i = first; i < first + static_cast<size_t>(part.sessions); ++i)
    std::erase_if(lines[i].session.samples, [&](const Session::Sample& one) { return !taken.contains(one.name); });
}

/// The lines so far, and the chains that no line has joined yet, in order.
class Sessions {
 public:
  /// Returns: what is wrong with the line's place; empty when nothing is.
  std::string add(uint32_t line, Session session, std::string sha256) {
    std::string wrong;
    const bool begins = session.number == 1 && session.previous.empty() && session.merged.empty();
    if (begins)
      chains_.push_back({line, lines.size()});
    else
      wrong = session.merged.empty() ? misplaced(session) : join_chains(session);
    lines.push_back({std::move(session), std::move(sha256)});
    return wrong;
  }

  /// Returns: the second of several chains that nothing joins; nullptr when there is one.
  const Segment* unjoined() const { return chains_.size() > 1 ? &chains_[1] : nullptr; }

  std::vector<SessionLine> lines;

 private:
  std::string misplaced(const Session& session) const {
    const size_t before = chains_.empty() ? 0 : lines.size() - chains_.back().first;
    if (session.number != static_cast<int64_t>(before) + 1) return wrong_number(session.number, before);
    const std::string head = before == 0 ? "" : lines.back().sha256;
    if (session.previous == head) return "";
    return fmt::format("it was written after a line with SHA-256 {}, found one with {} before it: that was changed",
                       quoted(session.previous, 70), quoted(head, 70));
  }

  std::string join_chains(const Session& session) {
    if (session.merged.size() > chains_.size())
      return fmt::format("it joins {} runs, found {} before it", session.merged.size(), chains_.size());
    const size_t begin = chains_.size() - session.merged.size();
    for (size_t i = 0; i < session.merged.size(); ++i) {
      const Session::Part& part = session.merged[i];
      const size_t first = chains_[begin + i].first;
      const size_t end = begin + i + 1 < chains_.size() ? chains_[begin + i + 1].first : lines.size();
      if (part.sessions != static_cast<int64_t>(end - first) || part.head != lines[end - 1].sha256)
        return fmt::format("it joins {} sessions up to SHA-256 {}, found {} up to {}: one of them was changed",
                           part.sessions, quoted(part.head, 70), end - first, quoted(lines[end - 1].sha256, 70));
      take_samples(lines, first, part);
    }
    chains_.resize(begin + 1);
    return misplaced(session);
  }

  std::vector<Segment> chains_;
};

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
  Sessions sessions;
  std::optional<Error> bad;
  for_each_line(text, [&](uint32_t number, std::string_view line, bool whole) {
    Result<Session> session = session_from_line(line, file);
    if (!session && !whole) return false;
    std::string wrong = session ? sessions.add(number, std::move(*session), sha256_hex(line)) : "";
    if (session && wrong.empty()) return true;
    bad = session ? bad_input(std::move(wrong)).with_hint(kSessionHint) : std::move(session).error();
    bad->at = SourceLoc{file, number, bad->at ? bad->at->column : 1};
    return false;
  });
  if (!bad && sessions.unjoined() != nullptr) {
    bad = bad_input(wrong_number(1, sessions.unjoined()->first)).with_hint(kSessionHint);
    bad->at = SourceLoc{file, sessions.unjoined()->line, 1};
  }
  if (bad) return std::move(*bad);
  return std::move(sessions.lines);
}

}  // namespace passnet::record
