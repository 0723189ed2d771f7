#include "record/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/hash.h"
#include "base/text/strings.h"

namespace passnet::record {

namespace {

constexpr const char* kHint =
    "'passnet verify RUN' shows all that is wrong; take the file from a copy, or evaluate again into another --out";

/// Somebody who says what record `records` was: a session that went on after it, or the score that was made of it.
struct Claim {
  std::string who;
  int64_t records = 0;
  std::string head;
};

/// What is known of each record ever written, by its number.
struct Known {
  std::map<int64_t, size_t> here;        // position in Chain::lines
  std::map<int64_t, std::string> aside;  // SHA-256 of those that a session set aside
  std::map<int64_t, size_t> begun;       // sessions by the number of records before; the last of such
  std::multiset<std::string> allowed;    // lines without a place: all that the first session found and left,
  std::set<std::string> moved;           // and those that sessions set aside
  std::vector<Claim> claims;
};

class Checker {
 public:
  explicit Checker(const ChainInput& input) : input_(input) {}

  Result<Chain> check(const std::function<void(RunRecord record)>& use) {
    PASSNET_TRY_VOID(read(use));
    learn();
    for (size_t i = 0; i < chain_.lines.size(); ++i) place(i);
    check_gaps();
    check_links();
    check_claims();
    chain_.end = {last_, hash_of(last_).value_or("")};
    std::ranges::stable_sort(chain_.problems, {}, [](const Error& error) { return error.at->line; });
    return std::move(chain_);
  }

 private:
  Result<void> read(const std::function<void(RunRecord record)>& use) {
    return for_each_record(input_.lines, input_.file, [&](uint32_t number, std::string_view line, RunRecord record) {
      keep(number, line, record);
      use(std::move(record));
    });
  }

  void keep(uint32_t number, std::string_view line, const RunRecord& record) {
    const std::string_view before = chain_.lines.empty() ? std::string_view() : chain_.lines.back().sha256();
    ChainLine& kept = chain_.lines.emplace_back();
    kept.number = number;
    kept.graph = record.graph;
    std::ranges::copy(sha256_hex(line), kept.sha256_digits.begin());
    if (!record.chain) return;
    kept.has_link = true;
    kept.place = record.chain->number;
    kept.follows_line_before = record.chain->previous == before;
    if (!kept.follows_line_before) kept.previous = record.chain->previous;
  }

  std::string_view previous_of(size_t i) const {
    return chain_.lines[i].follows_line_before ? chain_.lines[i - 1].sha256() : chain_.lines[i].previous;
  }

  void learn() {
    const std::vector<SessionLine>& sessions = *input_.sessions;
    for (size_t i = 0; i < sessions.size(); ++i) {
      const Session::Sample* const sample = sessions[i].session.find(input_.sample);
      if (sample == nullptr) continue;
      if (known_.begun.empty()) known_.allowed.insert(sample->unchained.begin(), sample->unchained.end());
      known_.begun[sample->records] = i;
      known_.claims.push_back({fmt::format("session {} of run.jsonl", i + 1), sample->records, sample->head});
      for (const Session::SetAside& one : sample->superseded) {
        if (one.number > 0) known_.aside[one.number] = one.sha256;
        if (one.number == 0) known_.moved.insert(one.sha256);
      }
    }
    if (input_.seal.records > 0)
      known_.claims.push_back({"aggregated_score.json", input_.seal.records, input_.seal.head});
  }

  std::string name(size_t i) const { return fmt::format("the record of {}", quoted(chain_.lines[i].graph)); }

  void complain_at(uint32_t line, std::string what, const char* hint = kHint) {
    chain_.problems.push_back(bad_input(std::move(what), SourceLoc{input_.file, line, 1}).with_hint(hint));
  }
  void complain(size_t i, const std::string& what, const char* hint = kHint) {
    complain_at(chain_.lines[i].number, name(i) + " " + what, hint);
  }

  void leave_behind(size_t i) {
    chain_.left_behind.push_back(i);
    complain(i, "was set aside by a later session and is still here", "'passnet eval --resume' moves it away");
  }

  /// The place of one line by itself.
  void place(size_t i) {
    if (!chain_.lines[i].has_link) return place_unchained(i);
    const int64_t number = chain_.lines[i].place;
    if (known_.begun.empty()) {
      if (!std::exchange(lost_, true))
        complain(i, "follows a session, and run.jsonl has none of this sample",
                 "run.jsonl lies in the directory of the run, above that of the sample; copy a run as a whole");
      return;
    }
    if (number < 1) return complain(i, fmt::format("says that it is record {}, expected 1 or more", number));
    const auto [before, is_new] = known_.here.emplace(number, i);
    if (!is_new) {
      const bool equal = chain_.lines[before->second].sha256() == chain_.lines[i].sha256();
      const uint32_t other = chain_.lines[before->second].number;
      return complain(i, equal
                             ? fmt::format("is line {} once more: the line was doubled", other)
                             : fmt::format("says that it is record {} of the sample, and so does line {}: one of them "
                                           "was changed or added",
                                           number, other));
    }
    if (number < highest_)
      complain(
          i, fmt::format("is record {} of the sample, found after record {}: lines were reordered", number, highest_));
    highest_ = std::max(highest_, number);
    last_ = std::max(last_, number);
    if (const auto begun = known_.begun.lower_bound(number); begun != known_.begun.begin())
      chain_.lines[i].session = std::prev(begun)->second;
    if (const auto aside = known_.aside.find(number); aside != known_.aside.end()) {
      if (aside->second == chain_.lines[i].sha256())
        leave_behind(i);
      else
        complain(i, fmt::format("says that it is record {}, which a later session set aside with other bytes", number));
    }
  }

  void place_unchained(size_t i) {
    ++chain_.unchained;
    const std::string sha256(chain_.lines[i].sha256());
    if (known_.moved.contains(sha256))
      leave_behind(i);
    else if (const auto allowed = known_.allowed.find(sha256); allowed != known_.allowed.end())
      known_.allowed.erase(allowed);
    else if (!known_.begun.empty())
      complain(i, "has no place in the chain: it was added, or its place was cut out");
  }

  std::optional<std::string> hash_of(int64_t number) const {
    if (const auto here = known_.here.find(number); here != known_.here.end())
      return std::string(chain_.lines[here->second].sha256());
    if (const auto aside = known_.aside.find(number); aside != known_.aside.end()) return aside->second;
    return std::nullopt;
  }

  /// Every number up to the last that anybody knows of is a record here, or one that was set aside.
  void check_gaps() {
    if (known_.begun.empty()) return;
    if (!known_.aside.empty()) last_ = std::max(last_, known_.aside.rbegin()->first);
    int64_t claimed = 0;
    for (const Claim& claim : known_.claims) claimed = std::max(claimed, claim.records);
    for (const auto& [number, i] : known_.here) check_gap_before(number);
    if (claimed > last_) {
      const auto claim = std::ranges::find(known_.claims, claimed, &Claim::records);
      complain_at(0, fmt::format("{} follows record {} of the sample, found {}: lines were dropped at the end",
                                 claim->who, claimed, last_));
    }
  }

  void check_gap_before(int64_t number) {
    int64_t before = 0;  // the nearest that is known
    if (const auto here = known_.here.lower_bound(number); here != known_.here.begin()) before = std::prev(here)->first;
    if (const auto aside = known_.aside.lower_bound(number); aside != known_.aside.begin())
      before = std::max(before, std::prev(aside)->first);
    if (before + 1 == number) return;
    const std::string which = before + 2 == number ? fmt::format("record {} is", number - 1)
                                                   : fmt::format("records {} to {} are", before + 1, number - 1);
    complain(known_.here.at(number),
             fmt::format("is record {} of the sample, and {} neither here nor set aside: lines were dropped", number,
                         which));
  }

  /// Each record was written after the bytes that are there.
  void check_links() {
    for (const auto& [number, i] : known_.here) {
      const std::string_view previous = previous_of(i);
      if (const auto begun = known_.begun.find(number - 1); begun != known_.begun.end()) {
        const SessionLine& session = input_.sessions->at(begun->second);
        if (previous != session.sha256)
          complain(i,
                   fmt::format("was written after a session with SHA-256 {}, found {} in session {} of run.jsonl: one "
                               "of them was changed, or is of another run",
                               quoted(previous, 70), quoted(session.sha256, 70), begun->second + 1));
        continue;
      }
      const std::optional<std::string> before = hash_of(number - 1);
      if (!before) continue;  // a gap
      if (previous == *before) continue;
      const auto changed = known_.here.find(number - 1);
      if (changed == known_.here.end()) {
        complain(i, fmt::format("was written after a line with SHA-256 {}, and record {}, which was set aside, has {}",
                                quoted(previous, 70), number - 1, quoted(*before, 70)));
        continue;
      }
      complain(
          changed->second,
          fmt::format("was changed after it was written: its line has SHA-256 {}, and line {} was written after {}",
                      quoted(*before, 70), chain_.lines[i].number, quoted(previous, 70)));
    }
  }

  void check_claims() {
    for (const Claim& claim : known_.claims) {
      const std::optional<std::string> found = hash_of(claim.records);
      if (claim.records == 0 || !found || *found == claim.head) continue;
      const auto here = known_.here.find(claim.records);
      const std::string what = fmt::format("its line has SHA-256 {}, and {} was written after {}", quoted(*found, 70),
                                           claim.who, quoted(claim.head, 70));
      if (here != known_.here.end())
        complain(here->second, "was changed after it was written: " + what);
      else
        complain_at(0, fmt::format("record {} of the sample: {}", claim.records, what));
    }
  }

  const ChainInput& input_;
  Chain chain_;
  Known known_;
  bool lost_ = false;
  int64_t highest_ = 0;  // number so far, in the order of the file
  int64_t last_ = 0;     // number of the last record ever written
};

}  // namespace

Result<Chain> check_chain(const ChainInput& input, const std::function<void(RunRecord record)>& use) {
  return Checker(input).check(use);
}

Result<void> first_problem(const Chain& chain) {
  if (chain.problems.empty()) return {};
  Error first = chain.problems.front();
  if (const size_t more = chain.problems.size() - 1; more > 0)
    first.notes.push_back(fmt::format("{} more problem{} in this file", more, more == 1 ? "" : "s"));
  return first;
}

}  // namespace passnet::record
