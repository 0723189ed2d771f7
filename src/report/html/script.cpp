#include "report/html_style.h"

namespace passnet::report {

// Longer than a page: the text is one literal.
std::string_view html_script() {
  return R"js(
const table = document.getElementById("graphs");
const rows = [...table.querySelectorAll("details.g")];
const sections = [...table.querySelectorAll("section")];
const home = new Map(rows.map((row) => [row, row.parentNode]));
const form = document.getElementById("filters");
const grouped = () => !form.grouped || form.grouped.checked;

function filter() {
  const words = form.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const verdict = form.verdict.value, sample = form.sample ? form.sample.value : "";
  let shown = 0;
  for (const row of rows) {
    const fits = (!verdict || row.dataset.v.includes("|" + verdict + "|")) && (!sample || row.dataset.s === sample) &&
                 words.every((word) => row.dataset.t.includes(word));
    row.hidden = !fits;
    shown += fits;
    const mark = document.getElementById("d" + row.id);
    if (mark) mark.classList.toggle("dim", !fits);
  }
  for (const section of sections) section.hidden = !section.querySelector("details.g:not([hidden])");
  form.querySelector("output").textContent = shown + " of " + rows.length + (rows.length === 1 ? " graph" : " graphs");
}

// Rows in the given order, each in its sample or all in the first section.
function place(order) {
  table.classList.toggle("flat", !grouped());
  for (const section of sections) if (section.querySelector("h3")) section.querySelector("h3").hidden = !grouped();
  for (const row of order) (grouped() ? home.get(row) : sections[0]).append(row);
  filter();
}

let order = rows;
for (const heading of table.querySelectorAll(".head [data-sort]")) {
  const column = [...heading.parentNode.children].indexOf(heading);
  const button = document.createElement("button");
  button.append(...heading.childNodes);
  heading.append(button);
  // A reason takes the place of four columns.
  const key = (row) => {
    const cells = row.querySelector("summary").children;
    const reason = cells[2].className === "reason";
    return cells[!reason || column < 2 ? column : Math.max(2, column - 3)].dataset.k;
  };
  button.onclick = () => {
    const up = heading.getAttribute("aria-sort") === (heading.dataset.sort === "text" ? null : "descending");
    for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    const compare = heading.dataset.sort === "text" ? (a, b) => key(a).localeCompare(key(b)) : (a, b) => key(a) - key(b);
    const last = (row) => heading.dataset.sort === "number" && key(row) === "1e300";
    order = [...rows].sort((a, b) => last(a) - last(b) || (up ? compare(a, b) : compare(b, a)));
    place(order);
  };
}

// Sources open in the row that names them.
for (const row of rows) {
  row.addEventListener("toggle", () => {
    for (const link of row.querySelectorAll(".links a")) {
      const text = document.getElementById(link.hash.slice(1));
      const inner = document.createElement("details"), label = document.createElement("summary"), copy = document.createElement("pre");
      label.textContent = link.textContent;
      copy.textContent = text.textContent;
      inner.append(label, copy);
      link.replaceWith(inner);
    }
  });
}

function open_target() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (!target || !target.matches("details")) return;
  target.hidden = false;
  target.open = true;
  target.scrollIntoView({block: "center"});
}
addEventListener("hashchange", open_target);
open_target();

form.hidden = false;
form.onsubmit = () => false;
form.oninput = () => filter();
if (form.grouped) form.grouped.onchange = () => place(order);
filter();
)js";
}

}  // namespace passnet::report
