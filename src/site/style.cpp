#include "site/page.h"

namespace passnet::site {

/// Added to the style sheet of report.html.
std::string_view site_style() {
  return R"css(
:root { --key: #8250a8; --string: #00604d; --number: #a84a00; --comment: #5b636c; }
@media (prefers-color-scheme: dark) { :root { --key: #c9a2f0; --string: #35c9a5; --number: #f0a05a; --comment: #98a2ad; } }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; margin: 0 0 1.2rem; padding-bottom: .5rem; border-bottom: 1px solid var(--line); }
nav a { color: var(--quiet); text-decoration: none; } nav a:hover { text-decoration: underline; }
nav a[aria-current] { color: var(--ink); font-weight: 600; }
.filters { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center; margin: .6rem 0; font-size: .875rem; }
.filters input, .filters select { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 6px;
  padding: .25rem .5rem; max-width: 16rem; } .filters output { color: var(--quiet); margin-left: auto; }
.wide table { width: 100%; } .wide td { vertical-align: top; } .wide th.number { text-align: right; } .wide th small, .wide td small { display: block; white-space: nowrap; }
.wide td.bar { min-width: 100px; padding-top: .45rem; } th button { all: unset; cursor: pointer; } th button:focus-visible { outline: 2px solid var(--fast); }
th[aria-sort] button::after { content: " \2193"; } th[aria-sort=ascending] button::after { content: " \2191"; }
td.entry { overflow-wrap: anywhere; min-width: 12ch; font-weight: 600; } td.entry small { font-weight: 400; white-space: normal !important; }
tr.graph th { text-align: left; padding-top: 1rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; } tr.graph small { display: inline !important; margin-left: .4rem; }
tr:target td, tbody:target tr.graph th { background: var(--shade); } td .verdict { white-space: nowrap; }
td.reason { max-width: 26rem; color: var(--quiet); overflow-wrap: anywhere; }
.matrix td, .matrix th { text-align: center; } .matrix th[scope=row] { text-align: left; overflow-wrap: anywhere; min-width: 10ch; } .matrix .best { font-weight: 600; }
.drawing { overflow: auto; max-height: 34rem; border: 1px solid var(--line); border-radius: 6px; background: var(--page); margin: .4rem 0; }
.drawing svg { display: block; margin: 0 auto; font-size: 12px; } .drawing text { fill: var(--ink); }
.drawing .box { fill: var(--panel); stroke: var(--quiet); } .drawing .input { fill: var(--page); stroke: var(--good); } .drawing .output { fill: var(--page); stroke: var(--slow); }
.drawing .inplace { stroke: var(--bad); stroke-width: 2; } .drawing .edge { fill: none; stroke: var(--same); stroke-width: 1.2; } .drawing .arrow { fill: var(--same); stroke: none; }
.history { width: 100%; max-width: 52rem; height: auto; display: block; font-size: 12px; min-width: 36rem; } .history text { fill: var(--quiet); }
.history .run { fill: var(--fast); } .history .path { fill: none; stroke: var(--fast); stroke-width: 2; } .history .eager { stroke: var(--quiet); stroke-dasharray: 2 3; }
pre .k { color: var(--key); } pre .s { color: var(--string); } pre .n { color: var(--number); } pre .c { color: var(--comment); font-style: italic; }
dt { overflow-wrap: anywhere; } details.text { margin: .3rem 0; } .downloads a { margin-right: 1.2rem; } h2 + .filters { margin-top: 0; }
@media (max-width: 44rem) { .speedups .mark, .named .mark { color: inherit; } td.reason { min-width: 14rem; } }
)css";
}

}  // namespace passnet::site
