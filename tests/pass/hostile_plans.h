// Plans of at most 20 lines that would not end if less was counted than what they visit. Each is the body of a function of
// one tensor, `x`.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace passnet::pass::test {

/// Plans that would run for ever or take all memory: a line a kind.
inline std::vector<std::string> hostile_plans() {
  std::vector<std::string> all;
  const std::string t = "t = tuple(range(9000))\nb = tuple(range(9000))\n";
  for (const char* op : {"==", "!=", "<", "<=", ">", ">="}) all.push_back(t + "while True: t " + op + " b");
  for (const char* op : {"==", "<"})
    all.push_back(fmt::format("l = list(range(9000))\nb = l.copy()\nwhile True: [l] {} [b]", op));
  for (const char* where : {"[b]", "(b,)", "{b: 1}", "[0, (0, b)]"}) {
    all.push_back(t + "c = " + where + "\nwhile True: t in c");
    all.push_back(t + "c = " + where + "\nwhile True: t not in c");
  }
  const std::string key = "t = tuple(range(5000))\nd = {t: 1}\n";
  for (const char* use : {"d[t]", "d.get(t)", "d.setdefault(t, 1)", "d.update(d)", "d.copy()", "dict(d)", "d[t] = 2",
                          "{t: 1}", "{a: 1 for a in (t,)}", "d.pop((t, 1), 0)"})
    all.push_back(key + "while True: " + use);
  all.push_back(key + "while True:\n    del d[t]\n    d[t] = 1");
  // Containers that grew after others took them are heavier than those say.
  const std::string shared = "l = []\nt = (l,) * 9000\nl.extend(range(9000))\nm = []\n";
  for (const char* use : {"max(t)", "min(t)", "sorted(t)", "t == t[:]", "m.append(t)", "m.insert(0, t)", "m += [t]",
                          "[].extend([t])", "t.count(l)", "map(max, t)", "filter(max, t)", "map(sorted, t)",
                          "m.append(t) or m.pop()", "{0: 1}.update({0: t})", "{0: t}", "l in t[:0] or [] in t"})
    all.push_back(shared + "while True: " + use);
  // Doubling.
  for (const char* twice : {"a = a + a", "a = a * 2", "a += a", "a = [*a, *a]", "a.extend(a)", "a = list(a) + list(a)"})
    all.push_back(fmt::format("while True:\n    a = [0]\n    for i in range(14): {}", twice));
  all.push_back("while True:\n    a = (0,)\n    for i in range(14): a = a + a");
  all.push_back("while True:\n    a = 'a'\n    for i in range(10): a = a + a");
  all.push_back("while True:\n    a = 0\n    for i in range(14): a = (a, a)\n    a == a");
  // Moves.
  const std::string list =
      "l = list(range(9000))\nd = {i: i for i in range(200)}\ns = 'a'\nfor i in range(9): s = s + s\n";
  for (const char* use : {"l.insert(0, l.pop())",
                          "l.append(l.pop(0))",
                          "l.reverse()",
                          "l.copy()",
                          "l[:]",
                          "l[::-1]",
                          "l[1:]",
                          "tuple(l)",
                          "reversed(l)",
                          "zip(l, l)",
                          "enumerate(l)",
                          "sum(l)",
                          "any([0] * 9000)",
                          "all(l[1:])",
                          "map(range, l)",
                          "sorted(l, key=lambda a: -a)",
                          "sorted(l, reverse=True)",
                          "a, *b = l",
                          "\n    for a in l: pass",
                          "[a for a in l]",
                          "[a + b for a in l for b in l]",
                          "{a: a for a in range(300)}",
                          "d.pop(0) or d.setdefault(0, 0)",
                          "d.items()",
                          "s.replace('aaab', '')",
                          "s.split('aaab')",
                          "s.strip(s)",
                          "s + s",
                          "s.upper()",
                          "(s + 'b') in s",
                          "s.join([s])",
                          "f'{s}{s[0]:>99}'",
                          "f'{1.5:.99f}'",
                          "str(l[:99])",
                          "[s[i] for i in range(512)]",
                          "s[::-1]",

                          "1e300 % 7.0",
                          "x.shape == x.shape",
                          "x[0:1]"})
    all.push_back(list + "while True: " + use);
  // Errors that are caught, and recursion.
  all.push_back("while True:\n    try:\n        raise ValueError([1] * 300)\n    except ValueError: pass");
  all.push_back("d = {}\nwhile True:\n    try: d['a']\n    except KeyError as e: s = str(e)\n    finally: pass");
  all.push_back("while True:\n    try:\n        import nothing_here\n    except ImportError: pass");
  all.push_back("while True: getattr(plan, 'a', 1) or hasattr(plan, 'b') or setattr(plan, 'c', 1)");
  all.push_back("def f(n): return n == 0 or f(n - 1) and f(n - 1)\nf(50)");
  all.push_back("def f(n):\n    for i in range(9): f(n + 1) if n < 50 else 0\nf(0)");
  all.push_back("f = lambda n: 0 if n == 0 else max(f(n - 1), f(n - 1))\nf(30)");
  std::string names = "a0";
  for (int i = 1; i < 400; ++i) names += fmt::format(", a{}", i);
  all.push_back("while True: [0 for " + names + " in []]");
  all.push_back("def f(a, **k): return k\nk = {f'k{i}': i for i in range(200)}\nwhile True: f(1, **k)");
  all.push_back("def f(*a): return a\nwhile True: f(*range(500))");
  all.push_back("while True: isinstance(1, (str,) * 9000)");
  return all;
}

}  // namespace passnet::pass::test
