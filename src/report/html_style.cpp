#include "report/html_style.h"

namespace passnet::report {

// Longer than a page: the text is one literal.
std::string_view html_style() {
  return R"css(
:root { color-scheme: light dark; --page: #ffffff; --ink: #1f2328; --quiet: #5b636c; --line: #d8dee4; --panel: #f6f8fa;
  --good: #00705a; --doubt: #8a5a00; --bad: #b3261e; --fast: #0b5fd0; --slow: #a84a00; --same: #6a737d; --s: #a84a00; --shade: #eef2f6; }
@media (prefers-color-scheme: dark) { :root { --page: #0f1318; --ink: #e6e9ed; --quiet: #98a2ad; --line: #2c333b; --panel: #171c22;
  --good: #35c9a5; --doubt: #e0b04a; --bad: #ff7b72; --fast: #6fb1ff; --slow: #f0a05a; --same: #98a2ad; --s: #f0a05a; --shade: #1a2028; } }
@media print { :root { color-scheme: light; --page: #ffffff; --ink: #000000; --quiet: #444444; --line: #bbbbbb; --panel: #ffffff;
  --good: #00604d; --doubt: #6f4800; --bad: #a01010; --fast: #0b4fae; --slow: #8f3f00; --same: #555555; --s: #8f3f00; --shade: #f0f0f0; }
  details.g, figure { break-inside: avoid; } #filters { display: none !important; } body { max-width: none; } }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0 auto; max-width: 80rem; padding: 1.5rem 1.25rem 3rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .6rem; overflow-wrap: anywhere; } h3 { font-size: .95rem; margin: 1.2rem 0 .3rem; overflow-wrap: anywhere; }
h3 small { font-weight: 400; color: var(--quiet); }
p { margin: .25rem 0; } .quiet { color: var(--quiet); } a { color: var(--fast); }
small { color: var(--quiet); font-size: .75rem; }
.figures { display: grid; grid-template-columns: repeat(3, 1fr); gap: .8rem; margin: 1.25rem 0 .8rem; max-width: 60rem; }
.figures div { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .7rem 1rem; }
.figures dt { color: var(--quiet); font-size: .875rem; } .figures dd { margin: 0; font-size: 1.9rem; font-weight: 600; line-height: 1.3; font-variant-numeric: tabular-nums; }
.figures small { display: block; font-weight: 400; line-height: 1.4; }
.good { color: var(--good); } .doubtful { color: var(--doubt); } .bad { color: var(--bad); } .neutral { color: var(--quiet); }
b.faster, .legend .faster { color: var(--fast); } b.same, .legend .same { color: var(--same); } b.slower, .legend .slower { color: var(--slow); }
figure { margin: 0; } figcaption { color: var(--quiet); font-size: .85rem; max-width: 60rem; }
.legend { font-size: .85rem; } .legend span { margin-right: .8rem; }
.grid { stroke: var(--line); }
.speedups { position: relative; isolation: isolate; padding: 26px 0 6px; font-size: 12px; font-variant-numeric: tabular-nums; --left: 2%; --width: 94%; }
.speedups.named { --left: 34%; --width: 62%; } .speedups text { fill: var(--quiet); } .speedups .one { stroke: var(--quiet); stroke-width: 1.5; }
.speedups svg { display: block; width: var(--width); margin-left: var(--left); overflow: visible; } .speedups .scale { position: absolute; top: 0; z-index: -1; }
.named .mark { display: flex; align-items: center; color: inherit; text-decoration: none; } .named .mark svg { margin-left: 0; flex: none; }
.named .mark span { width: var(--left); padding-right: .9rem; text-align: right; line-height: 1.2; overflow-wrap: anywhere; }
.named .mark:hover span { text-decoration: underline; }
.mark .error { stroke-width: 2; stroke-opacity: .45; } .mark.dim { opacity: .12; } .mark:focus-visible { outline: 2px solid var(--fast); }
.mark.faster circle { fill: var(--fast); } .mark.faster .error { stroke: var(--fast); }
.mark.same circle { fill: var(--page); stroke: var(--same); stroke-width: 1.5; } .mark.same .error { stroke: var(--same); }
.mark.slower rect { fill: var(--slow); } .mark.slower .error { stroke: var(--slow); } .speedups .mark .cut { fill: var(--ink); font-weight: 600; }
.curve { width: 100%; max-width: 52rem; height: auto; display: block; font-size: 12px; }
.curve text { fill: var(--quiet); } .curve .es-name { fill: var(--fast); font-weight: 600; } .curve .s-name { fill: var(--s); font-weight: 600; }
.forgiven { fill: var(--shade); } .eager { stroke: var(--quiet); stroke-dasharray: 2 3; }
.es-line { fill: none; stroke: var(--fast); stroke-width: 2.5; stroke-linejoin: round; } .es-dot { fill: var(--fast); }
.s-line { fill: none; stroke: var(--s); stroke-width: 5; stroke-opacity: .45; stroke-linejoin: round; }
#filters { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center; margin: 0 0 .6rem; font-size: .875rem; }
#filters input, #filters select { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 6px;
  padding: .25rem .5rem; max-width: 16rem; } #filters output { color: var(--quiet); margin-left: auto; }
#graphs { font-size: .875rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
#graphs .head, .g > summary { display: grid; align-items: center; column-gap: .8rem; padding: .3rem .2rem;
  grid-template-columns: minmax(9rem, 1fr) 7rem 7rem 96px 6.5rem 6.5rem 3.5rem 3.5rem 5rem 2.5rem; }
#graphs .head { position: sticky; top: 0; z-index: 1; background: var(--page); border-bottom: 2px solid var(--line); font-weight: 600; }
#graphs .head .bar { color: var(--quiet); font-weight: 400; font-size: .75rem; text-align: center; }
details.g { border-bottom: 1px solid var(--line); content-visibility: auto; contain-intrinsic-height: auto 2.6rem; }
details.g > summary { list-style: none; cursor: pointer; } details.g > summary::-webkit-details-marker { display: none; }
details.g > summary:hover, details.g[open] > summary { background: var(--panel); }
summary:focus-visible, button:focus-visible, a:focus-visible { outline: 2px solid var(--fast); outline-offset: -2px; }
.name { overflow-wrap: anywhere; } details.g .name::before { content: "\25B8\00A0"; color: var(--quiet); }
details.g[open] .name::before { content: "\25BE\00A0"; } .name i { display: none; font-style: normal; color: var(--quiet); } .flat .name i { display: inline; }
.verdict { font-weight: 600; } .g > summary small { display: block; font-weight: 400; white-space: nowrap; }
.num { text-align: right; } .num b, .head .num { white-space: nowrap; } .reason { grid-column: span 4; color: var(--quiet); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.head button { all: unset; cursor: pointer; } .head [aria-sort] button::after { content: " \2193"; } .head [aria-sort=ascending] button::after { content: " \2191"; }
svg.ratio { width: 96px; height: 14px; display: block; } .ratio path { fill: none; } .ratio .axis { stroke: var(--quiet); }
.ratio .bar { fill: currentColor; fill-opacity: .35; } .ratio .error { stroke: currentColor; stroke-width: 2; } .ratio .cut { stroke: var(--ink); stroke-width: 1.5; }
.ratio.faster { color: var(--fast); } .ratio.same { color: var(--same); } .ratio.slower { color: var(--slow); }
.more { padding: .2rem .2rem .8rem 1.2rem; } .more figure { margin: .5rem 0; max-width: 60rem; }
.trials { width: 100%; height: 100px; display: block; border-bottom: 1px solid var(--quiet); } .trials path { fill: none; stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.trials .block { fill: var(--shade); } .trials .before { stroke: var(--slow); } .trials .after { stroke: var(--fast); } .trials .beyond { stroke: var(--ink); stroke-width: 2; }
b.before { color: var(--slow); } b.after { color: var(--fast); } .disturbed .trials { opacity: .55; }
.links a, .links span { margin-right: .6rem; } .trials { overflow: visible; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0; font-size: .85rem; } .facts dt { color: var(--quiet); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
details > summary { cursor: pointer; } details.text > summary, .ladder { font-size: .875rem; }
pre { margin: .4rem 0 .6rem; padding: .6rem .8rem; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; max-height: 40rem; overflow: auto;
  font: 12.5px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
pre.problem { border-left: 3px solid var(--bad); }
.wide { overflow-x: auto; font-size: .875rem; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; } th, td { padding: .25rem .6rem; text-align: left; }
th.number, td.number { text-align: right; white-space: nowrap; } .wide th { vertical-align: bottom; border-bottom: 2px solid var(--line); } .wide td { border-bottom: 1px solid var(--line); }
.wide th, .wide td { padding: .25rem .45rem; } .wide .name { min-width: 12ch; overflow-wrap: normal; } .wide .words { min-width: 24ch; }
footer { margin-top: 2rem; color: var(--quiet); font-size: .85rem; }
@media (max-width: 70rem) { #graphs .num.noise, #graphs .num.rung, #graphs .num.error, #graphs .num.sites { display: none; }
  #graphs .head, .g > summary { grid-template-columns: minmax(9rem, 1fr) 7rem 7rem 96px 6.5rem 6.5rem; } }
@media (max-width: 44rem) { body { padding: 1rem .75rem 2rem; } summary .before, summary .after { display: none; }
  .g > summary { grid-template-columns: 1fr auto 96px; row-gap: .2rem; } #graphs .head { display: none; } #graphs .name { grid-column: 1 / -1; }
  .reason { grid-column: 1 / -1; white-space: normal; } .verdict small { display: inline; margin-left: .4rem; } .facts { grid-template-columns: 7rem 1fr; }
  .figures { grid-template-columns: 1fr; gap: .4rem; } .figures div { padding: .4rem .8rem; } .curve { min-width: 36rem; }
  .speedups, .speedups.named { --left: 5%; --width: 88%; } .speedups .minor { display: none; } .named .mark { display: block; padding-top: .3rem; }
  .named .mark span { padding: 0 .3rem 0 0; background: var(--page); } .named .mark svg { margin-left: var(--left); } .more { padding-left: .2rem; } #filters output { margin-left: 0; } }
)css";
}

}  // namespace passnet::report
