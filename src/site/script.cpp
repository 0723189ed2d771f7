#include "site/page.h"

namespace passnet::site {

// Longer than a page: the text is one literal.
std::string_view site_script() {
  return R"js("use strict";
// Sorts the rows of each part of a table by the column whose heading is clicked; what has no number comes last.
function sort_by(table, heading, up) {
  const column = [...heading.parentNode.children].indexOf(heading), text = heading.dataset.sort === "text";
  for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", up ? "ascending" : "descending");
  const key = (row) => { const cell = row.children[column]; return text ? cell.textContent : cell.dataset.k; };
  const compare = text ? (a, b) => key(a).localeCompare(key(b)) : (a, b) => key(a) - key(b);
  for (const body of table.tBodies) {
    const rows = [...body.rows].filter((row) => !row.classList.contains("graph"));
    rows.sort((a, b) => (text ? 0 : (key(a) === "") - (key(b) === "")) || (up ? compare(a, b) : compare(b, a)));
    body.append(...rows);
  }
}
for (const heading of document.querySelectorAll("th[data-sort]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...heading.childNodes);
  heading.append(button);
  button.onclick = () => sort_by(heading.closest("table"), heading,
    heading.getAttribute("aria-sort") === (heading.dataset.sort === "text" ? null : "descending"));
}

// A form filters the rows of the table that follows it.
for (const form of document.querySelectorAll("form.filters:not(#pair)")) {
  const table = form.nextElementSibling.querySelector("table");
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => !row.classList.contains("graph"));
  const data = form.dataset.board ? JSON.parse(document.getElementById(form.dataset.board).textContent) : null;
  const count = form.querySelector("output").textContent.replace(/^\d+ /, "");
  const ranks = () => {
    const places = new Map();
    for (const row of rows) {
      const place = (places.get(row.dataset.device) || 0) + 1;
      places.set(row.dataset.device, place);
      row.children[0].textContent = row.children[0].dataset.k = place;
    }
  };
  // Figures of the kind and the element type that are chosen, and the order that they give.
  const take_slice = () => {
    const kind = data.kinds.indexOf(form.kind ? form.kind.value : ""), dtype = data.dtypes.indexOf(form.dtype.value);
    const slice = (kind + 1) * (data.dtypes.length + 1) + dtype + 1, none = Array(data.figures).fill([null, "-"]);
    for (const row of rows) {
      (data.entries[row.id][slice] || none).forEach(([key, text], i) => {
        const cell = row.children[data.first + i];
        cell.dataset.k = key === null ? "" : key;
        cell.textContent = text;
      });
    }
    const score = (row) => Number(row.children[data.first].dataset.k || -1);
    rows.sort((a, b) => a.dataset.device.localeCompare(b.dataset.device) || score(b) - score(a));
    rows[0].parentNode.append(...rows);
    for (const heading of table.querySelectorAll("[aria-sort]")) heading.removeAttribute("aria-sort");
    ranks();
  };
  const filter = () => {
    const words = form.text ? form.text.value.toLowerCase().split(/\s+/).filter(Boolean) : [];
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !(words.every((word) => text.includes(word)) &&
        ["device", "compiler"].every((name) => !form[name] || !form[name].value || row.dataset[name] === form[name].value));
      shown += !row.hidden;
    }
    for (const body of table.tBodies) if (body.querySelector(".graph")) body.hidden = !body.querySelector("tr:not(.graph):not([hidden])");
    form.querySelector("output").textContent = (shown === rows.length ? "" : shown + " of ") + rows.length + " " + count;
  };
  form.hidden = false;
  form.onsubmit = () => false;
  form.oninput = (event) => { if (["kind", "dtype"].includes(event.target.name)) take_slice(); filter(); };
  if (rows.length > 0) filter();
}

// The page of two entries.
const pair = document.getElementById("pair");
if (pair) {
  const pages = JSON.parse(document.getElementById("pairs").textContent);
  pair.hidden = false;
  const show = () => {
    const path = pages[pair.a.value + "|" + pair.b.value] || pages[pair.b.value + "|" + pair.a.value];
    pair.querySelector("button").disabled = !path;
    pair.querySelector("output").textContent = path ? "" : "these two share no page: choose two entries of one device";
    return path;
  };
  pair.oninput = show;
  pair.onsubmit = () => { const path = show(); if (path) location.href = path; return false; };
  show();
}

// A page of `passnet serve` loads again when records were added.
if (document.body.dataset.events) {
  new EventSource(document.body.dataset.events).addEventListener("records", () => location.reload());
}

// What a link names is opened.
function open_target() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (!target) return;
  for (let at = target; at; at = at.parentElement) if (at.matches("details")) at.open = true;
  target.scrollIntoView({block: "center"});
}
addEventListener("hashchange", open_target);
open_target();
)js";
}

}  // namespace passnet::site
