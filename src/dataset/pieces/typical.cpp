#include "dataset/pieces/typical.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace passnet::dataset {

namespace {

using Token = uint32_t;
using Tokens = std::vector<Token>;

/// The positions of a text, ordered by the `window` tokens that begin there (at least so many), then by
/// position.
std::vector<uint32_t> sorted_positions(const Tokens& text, size_t window) {
  const size_t n = text.size();
  Tokens rank = text;
  std::vector<std::pair<uint64_t, uint32_t>> keyed(n);
  for (size_t length = 1; length < 2 * window; length *= 2) {
    for (size_t i = 0; i < n; ++i) {
      const uint64_t behind = i + length < n ? uint64_t{rank[i + length]} + 1 : 0;  // the end comes before any token
      keyed[i] = {uint64_t{rank[i]} << 32 | behind, static_cast<uint32_t>(i)};
    }
    std::sort(keyed.begin(), keyed.end());
    for (size_t i = 0, name = 0; i < n; ++i) {
      if (i > 0 && keyed[i].first != keyed[i - 1].first) ++name;
      rank[keyed[i].second] = static_cast<Token>(name);
    }
  }
  std::vector<uint32_t> order(n);
  for (size_t i = 0; i < n; ++i) order[i] = keyed[i].second;
  return order;
}

size_t common_length(const Tokens& text, size_t a, size_t b, size_t most) {
  size_t length = 0;
  while (length < most && a + length < text.size() && b + length < text.size() && text[a + length] == text[b + length])
    ++length;
  return length;
}

struct Pattern {
  size_t length = 0;
  std::vector<uint32_t> starts;  // ascending; occurrences may overlap
};

/// The pattern of at most `window` tokens with the greatest (length - 1) (occurrences - 1); of equals the
/// shorter, then the one that occurs first. Nothing when no pattern occurs twice.
std::optional<Pattern> best_pattern(const Tokens& text, size_t window) {
  const std::vector<uint32_t> order = sorted_positions(text, window);
  // Stretches of `order` whose positions share their first `length` tokens, the longest open one last.
  struct Open {
    size_t length, from;
    uint32_t first;  // occurrence
  };
  std::vector<Open> open;
  struct Best {
    size_t score = 0, length = 0, from = 0, to = 0;
    uint32_t first = 0;
  } best;
  for (size_t i = 1; i <= order.size(); ++i) {
    const size_t shared = i < order.size() ? common_length(text, order[i - 1], order[i], window) : 0;
    Open grown{shared, i - 1, order[i - 1]};
    while (!open.empty() && open.back().length >= shared) {
      const Open closed = open.back();
      open.pop_back();
      const uint32_t first = std::min(closed.first, grown.first);
      const size_t score = closed.length < 2 ? 0 : (closed.length - 1) * (i - closed.from - 1);
      const bool better =
          score > best.score || (score == best.score && score > 0 &&
                                 (closed.length < best.length || (closed.length == best.length && first < best.first)));
      if (better) best = {score, closed.length, closed.from, i, first};
      grown.from = closed.from;
      grown.first = first;
    }
    if (shared > 0) open.push_back(grown);
  }
  if (best.score == 0) return std::nullopt;
  Pattern pattern{best.length,
                  {order.begin() + static_cast<ptrdiff_t>(best.from), order.begin() + static_cast<ptrdiff_t>(best.to)}};
  std::sort(pattern.starts.begin(), pattern.starts.end());
  return pattern;
}

std::vector<uint32_t> disjoint(const std::vector<uint32_t>& starts, size_t length) {
  std::vector<uint32_t> kept;
  for (const uint32_t start : starts) {
    if (kept.empty() || start >= kept.back() + length) kept.push_back(start);
  }
  return kept;
}

/// A grammar of the text: what each folded symbol stands for.
struct Grammar {
  Token first_symbol = 0;      // smaller tokens are primitive, or separators
  std::vector<Tokens> bodies;  // by symbol
  std::vector<size_t> sizes;   // by symbol: operators
  Token add(Tokens body) {
    sizes.push_back(0);
    for (const Token token : body) sizes.back() += size_of(token);
    bodies.push_back(std::move(body));
    return first_symbol + static_cast<Token>(bodies.size()) - 1;
  }
  bool is_symbol(Token token) const { return token >= first_symbol; }
  size_t size_of(Token token) const { return is_symbol(token) ? sizes[token - first_symbol] : 1; }
  const Tokens& body(Token symbol) const { return bodies[symbol - first_symbol]; }
};

/// Replaces the best pattern of the text by a symbol; false when there is none.
bool fold(Tokens& text, Grammar& grammar, size_t window) {
  const std::optional<Pattern> pattern = best_pattern(text, window);
  if (!pattern) return false;
  size_t length = pattern->length;
  std::vector<uint32_t> starts;
  while (length > 1) {
    starts = disjoint(pattern->starts, length);
    if (starts.size() > 1) break;
    length = length > 2 * window ? length / 2 : length - 1;
  }
  if (length <= 1) return false;
  const auto begin = text.begin() + starts.front();
  const Token symbol = grammar.add(Tokens(begin, begin + static_cast<ptrdiff_t>(length)));
  Tokens folded;
  size_t at = 0;
  for (const uint32_t start : starts) {
    folded.insert(folded.end(), text.begin() + static_cast<ptrdiff_t>(at), text.begin() + start);
    folded.push_back(symbol);
    at = start + length;
  }
  folded.insert(folded.end(), text.begin() + static_cast<ptrdiff_t>(at), text.end());
  text = std::move(folded);
  return true;
}

/// Each run of primitive tokens in a body that has symbols too becomes a symbol of its own.
void gather_primitives(Grammar& grammar) {
  for (size_t i = 0, count = grammar.bodies.size(); i < count; ++i) {
    const Tokens body = grammar.bodies[i];
    if (std::none_of(body.begin(), body.end(), [&](Token token) { return grammar.is_symbol(token); })) continue;
    Tokens gathered, run;
    const auto end_run = [&] {
      if (!run.empty()) gathered.push_back(grammar.add(std::exchange(run, {})));
    };
    for (const Token token : body) {
      if (grammar.is_symbol(token)) {
        end_run();
        gathered.push_back(token);
      } else {
        run.push_back(token);
      }
    }
    end_run();
    grammar.bodies[i] = std::move(gathered);
  }
}

// Ranges of the operators from `start` on that `token` stands for.
void add_ranges(const Grammar& grammar, const TypicalOptions& options, Token token, size_t start,
                std::vector<analysis::Range>& found) {
  const size_t size = grammar.size_of(token);
  if (size < options.min_ops) return;
  if (size < options.max_ops) {
    found.push_back({start, start + size});
  } else if (grammar.is_symbol(token)) {
    for (const Token child : grammar.body(token)) {
      add_ranges(grammar, options, child, start, found);
      start += grammar.size_of(child);
    }
  }
}

std::vector<analysis::Range> longer_than_one_and_disjoint(std::vector<analysis::Range> ranges) {
  std::erase_if(ranges, [](const analysis::Range& range) { return range.size() <= 1; });
  std::sort(ranges.begin(), ranges.end());
  ranges.erase(std::unique(ranges.begin(), ranges.end()), ranges.end());
  std::vector<analysis::Range> kept;
  size_t end = 0;
  for (const analysis::Range& range : ranges) {
    if (range.start >= end) kept.push_back(range);
    end = range.end;
  }
  return kept;
}

}  // namespace

std::vector<std::vector<analysis::Range>> typical_ranges(std::span<const std::vector<uint32_t>> sequences,
                                                         const TypicalOptions& options) {
  const auto count = static_cast<Token>(sequences.size());
  // Separators 1, 2, … between the sequences, each there once; operators behind them.
  Token operators = 0;
  Tokens text;
  for (Token i = 0; i < count; ++i) {
    if (i > 0) text.push_back(i);
    for (const uint32_t number : sequences[i]) {
      operators = std::max(operators, number + 1);
      text.push_back(count + number);
    }
  }
  Grammar grammar;
  grammar.first_symbol = count + operators;
  for (int folds = 0; folds <= options.extra_folds && fold(text, grammar, options.window); ++folds) {
  }

  std::vector<Token> roots;
  for (size_t at = 0, i = 0; i < sequences.size(); ++i, ++at) {
    const size_t begin = at;
    while (at < text.size() && text[at] >= count) ++at;
    Tokens body(text.begin() + static_cast<ptrdiff_t>(begin), text.begin() + static_cast<ptrdiff_t>(at));
    roots.push_back(body.size() == 1 ? body.front() : grammar.add(std::move(body)));
  }
  gather_primitives(grammar);

  std::vector<std::vector<analysis::Range>> ranges;
  for (const Token root : roots) {
    std::vector<analysis::Range> found;
    add_ranges(grammar, options, root, 0, found);
    ranges.push_back(longer_than_one_and_disjoint(std::move(found)));
  }
  return ranges;
}

}  // namespace passnet::dataset
