#include "report/html_style.h"

namespace passnet::report {

std::string_view html_style() {
  return R"css(
:root { color-scheme: light dark; --page: #ffffff; --ink: #1f2328; --quiet: #656d76; --line: #d8dee4; --panel: #f6f8fa;
  --good: #1a7f37; --doubt: #9a6700; --bad: #cf222e; --es: #0b62d6; --s: #b35900; --shade: #eef2f6; }
@media (prefers-color-scheme: dark) { :root { --page: #0f1318; --ink: #e6e9ed; --quiet: #98a2ad; --line: #2c333b; --panel: #171c22;
  --good: #4cc26a; --doubt: #d9a62e; --bad: #ff6b63; --es: #6fb1ff; --s: #f2a25c; --shade: #151a20; } }
@media print { :root { color-scheme: light; --page: #ffffff; --ink: #000000; --quiet: #444444; --line: #bbbbbb; --panel: #ffffff;
  --good: #1a7f37; --doubt: #7a5200; --bad: #b01020; --es: #0b4fae; --s: #8f4700; --shade: #f3f3f3; } tbody, figure { break-inside: avoid; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem 1.25rem 3rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .6rem; }
p { margin: .25rem 0; } .quiet { color: var(--quiet); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .6rem; margin: 1.25rem 0 0; }
.figures div { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .6rem .8rem; }
.figures dt { color: var(--quiet); font-size: .8rem; } .figures dd { margin: 0; font-size: 1.45rem; font-variant-numeric: tabular-nums; }
.figures small { display: block; color: var(--quiet); font-size: .75rem; }
.good { color: var(--good); } .doubtful { color: var(--doubt); } .bad { color: var(--bad); }
figure { margin: 0; } figcaption { color: var(--quiet); font-size: .85rem; max-width: 60rem; }
.curve { width: 100%; max-width: 52rem; height: auto; display: block; font-size: 12px; }
.curve text { fill: var(--quiet); } .curve .es-name { fill: var(--es); font-weight: 600; } .curve .s-name { fill: var(--s); font-weight: 600; }
.forgiven { fill: var(--shade); } .grid { stroke: var(--line); } .eager { stroke: var(--quiet); stroke-dasharray: 2 3; }
.es-line { fill: none; stroke: var(--es); stroke-width: 2.5; stroke-linejoin: round; } .es-dot { fill: var(--es); }
.s-line { fill: none; stroke: var(--s); stroke-width: 5; stroke-opacity: .45; stroke-linejoin: round; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; white-space: nowrap; } th, td { padding: .3rem .6rem; vertical-align: middle; }
thead th { border-bottom: 2px solid var(--line); } tbody { border-bottom: 1px solid var(--line); }
th.number, td.number { text-align: right; white-space: nowrap; } td.name { overflow-wrap: anywhere; min-width: 11rem; }
td.verdict { white-space: nowrap; font-weight: 600; } td.number small { display: block; color: var(--quiet); }
th button { all: unset; cursor: pointer; } th button:focus-visible { outline: 2px solid var(--es); } th[aria-sort] button::after { content: " \2193"; }
th[aria-sort=ascending] button::after { content: " \2191"; }
td.why { padding-top: 0; } details summary { cursor: pointer; color: var(--quiet); font-size: .85rem; }
pre { margin: .4rem 0 .6rem; padding: .6rem .8rem; background: var(--panel); border: 1px solid var(--line); border-radius: 6px;
  font: 12.5px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
svg.ratio { width: 96px; height: 14px; vertical-align: middle; } .ratio .axis { stroke: var(--quiet); }
.faster { fill: var(--good); } .slower { fill: var(--bad); }
svg.boxes { width: 150px; height: 24px; display: block; } .boxes line { stroke-width: 1; }
.before line { stroke: var(--quiet); } .before rect { fill: var(--quiet); fill-opacity: .35; stroke: var(--quiet); }
.after line { stroke: var(--es); } .after rect { fill: var(--es); fill-opacity: .35; stroke: var(--es); } .boxes .median { stroke-width: 2; }
footer { margin-top: 2rem; color: var(--quiet); font-size: .85rem; }
table.ladder { width: auto; }
)css";
}

std::string_view html_script() {
  return R"js(
for (const heading of document.querySelectorAll("#graphs thead th[data-sort]")) {
  const button = document.createElement("button");
  button.append(...heading.childNodes);
  heading.append(button);
  button.onclick = () => {
    const up = heading.getAttribute("aria-sort") !== "ascending";
    for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    const table = heading.closest("table");
    const key = (body) => body.rows[0].cells[heading.cellIndex].dataset.key;
    const compare = heading.dataset.sort === "number" ? (a, b) => key(a) - key(b) : (a, b) => key(a).localeCompare(key(b));
    [...table.tBodies].sort((a, b) => up ? compare(a, b) : compare(b, a)).forEach((body) => table.append(body));
  };
}
)js";
}

}  // namespace passnet::report
