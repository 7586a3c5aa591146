"use strict";
// Comfort only: the page says all it has to say without this.

/* Tables sort by the column whose heading is pressed. */
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      headings.forEach(other => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = row => {
        const text = row.cells[column].textContent.trim();
        const number = Number.parseFloat(text.replaceAll(",", ""));
        return { text, number: heading.classList.contains("count") ? number : Number.NaN };
      };
      const order = (a, b) => {
        const x = key(a);
        const y = key(b);
        return Number.isNaN(x.number) || Number.isNaN(y.number) ? x.text.localeCompare(y.text) : x.number - y.number;
      };
      const rows = [...body.rows].sort(order);
      body.append(...(down ? rows.reverse() : rows));
    });
  });
}

/* Points of a map show their image when they are pointed at or reached by the arrow keys. */
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
tip.setAttribute("role", "status");
document.body.append(tip);
const drawing = "http://www.w3.org/2000/svg";

function show(point) {
  tip.replaceChildren();
  if (point.dataset.image >= 0) {
    const image = document.createElementNS(drawing, "svg");
    image.setAttribute("viewBox", "0 0 96 96");
    image.setAttribute("aria-hidden", "true");
    const use = document.createElementNS(drawing, "use");
    use.setAttribute("href", "#t" + point.dataset.image);
    image.append(use);
    tip.append(image);
  }
  const text = document.createElement("div");
  text.textContent = point.getAttribute("aria-label");
  tip.append(text);
  tip.hidden = false;
  const place = point.getBoundingClientRect();
  const left = Math.min(place.right + 8, innerWidth - tip.offsetWidth - 8);
  const top = Math.min(place.bottom + 8, innerHeight - tip.offsetHeight - 8);
  tip.style.left = Math.max(8, left) + "px";
  tip.style.top = Math.max(8, top) + "px";
}

for (const map of document.querySelectorAll("svg.map")) {
  const points = [...map.querySelectorAll("path")];
  const across = point => point.transform.baseVal[0].matrix.e;
  const ordered = points.toSorted((a, b) => across(a) - across(b));
  for (const point of points) {
    const title = point.querySelector("title");
    point.setAttribute("aria-label", title.textContent);
    point.setAttribute("role", "img");
    point.tabIndex = point === ordered[0] ? 0 : -1;
    title.remove();
  }
  const leave = () => { tip.hidden = true; };
  map.addEventListener("pointerover", event => { if (event.target.dataset.kind) { show(event.target); } else { leave(); } });
  map.addEventListener("pointerleave", leave);
  map.addEventListener("focusin", event => show(event.target));
  map.addEventListener("focusout", leave);
  map.addEventListener("keydown", event => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") { leave(); }
    if (!step) { return; }
    event.preventDefault();
    const at = ordered.indexOf(document.activeElement);
    const next = ordered[(at + step + ordered.length) % ordered.length];
    ordered[at].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}

/* A class of the legend can be singled out. */
for (const legend of document.querySelectorAll(".kinds")) {
  const maps = legend.parentElement.querySelectorAll("svg.map");
  for (const entry of legend.querySelectorAll(".entry")) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.kind = entry.dataset.kind;
    button.setAttribute("aria-pressed", "false");
    button.append(...entry.childNodes);
    entry.replaceWith(button);
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      legend.querySelectorAll("button").forEach(other => other.setAttribute("aria-pressed", "false"));
      button.setAttribute("aria-pressed", String(on));
      for (const map of maps) {
        map.classList.toggle("picked", on);
        map.querySelectorAll("path").forEach(point => point.classList.toggle("chosen", point.dataset.kind === button.dataset.kind));
      }
    });
  }
}

/* On paper nothing can be opened. */
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(part => { part.open = true; }));
