"""The page's one script: sorting, searching, LaTeX, folds, colours. Without it the page is whole, and still."""

SCRIPT = r"""
const root = document.documentElement;
const make = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

// Colour scheme: the system's, until the button says otherwise.
const theme = document.getElementById("theme");
const systemDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches;
const setTheme = (value) => {
  if (value) root.dataset.theme = value;
  theme.textContent = isDark() ? "Light colours" : "Dark colours";
};
let kept = null;
try { kept = localStorage.getItem("theme"); } catch { /* a file opened from disk may have no storage */ }
setTheme(kept);
theme.hidden = false;
theme.addEventListener("click", () => {
  setTheme(isDark() ? "light" : "dark");
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* then the choice lasts as long as the page */ }
});

// A link into a fold opens it.
const openTo = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", openTo);
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (link && link.hash === location.hash) openTo();
  if (link && contents.dataset.narrow) contents.open = false;
});
const contents = document.getElementById("contents");
const narrow = matchMedia("(max-width: 68rem)");
const fit = () => { contents.open = !narrow.matches; contents.dataset.narrow = narrow.matches ? "1" : ""; };
narrow.addEventListener("change", fit);
fit();
openTo();
// The contents list the parts of the papers that are open.
document.querySelector("nav").classList.add("live");
for (const fold of document.querySelectorAll("details.paper")) {
  const item = document.querySelector(`nav li[data-paper="${fold.id}"]`);
  const follow = () => item.classList.toggle("here", fold.open);
  fold.addEventListener("toggle", follow);
  follow();
}
addEventListener("beforeprint", () => { for (const one of document.querySelectorAll("details")) one.open = true; });

// Tables: heads that sort, a box that searches, columns on request, LaTeX.
const valueOf = (row, column, named) => {
  const cell = row.cells[column], text = cell.dataset.v ?? cell.textContent.trim();
  if (named) return text;
  const number = Number(text.replaceAll(",", ""));
  return text === "" ? null : Number.isNaN(number) ? text.toLowerCase() : number;
};
const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
  : String(a).localeCompare(String(b), "en", {numeric: true});
const sortBy = (table, head) => {
  const down = head.getAttribute("aria-sort") === "ascending", body = table.tBodies[0], column = head.cellIndex;
  for (const one of table.tHead.rows[0].cells) one.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  // Item 5.10 comes after 5.2: numbers of items are no decimals.
  const named = head.textContent.trim() === "id";
  const rows = [...body.rows].map((row) => [valueOf(row, column, named), row]);
  rows.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : (down ? -1 : 1) * order(a, b));
  body.append(...rows.map(([, row]) => row));
};
const special = {
  "\\": "\\textbackslash{}", "^": "\\textasciicircum{}", "~": "\\textasciitilde{}",
  "≠": "", "✓": "", "✗": "", "–": "--",
};
const plain = (text) => text.replace(/[\\{}$&#^_%~≠✓✗–]/g, (one) => special[one] ?? "\\" + one);
const escape = (text) => plain(text).replace(/\s+/g, " ").trim();
const latexOf = (table) => {
  const heads = [...table.tHead.rows[0].cells].filter((one) => one.offsetParent || !table.offsetParent);
  const places = heads.map((one) => one.cellIndex);
  const line = (cells) => "  " + cells.map(escape).join(" & ") + " \\\\";
  const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  const numbers = places.map((k) => rows.every((row) => typeof valueOf(row, k) !== "string"));
  const said = (row) => places.map((k) => [...row.cells[k].childNodes].map((one) => one.textContent).join(" "));
  // A line holds about 90 characters: what the short columns leave is shared by those of long text, which break.
  const wide = places.map((_, k) => Math.max(...rows.map((row) => escape(said(row)[k]).length), 0));
  const long = wide.map((width, k) => !numbers[k] && width > 30);
  const short = wide.reduce((sum, width, k) => sum + (long[k] ? 0 : width + 2), 0);
  const left = Math.max(0.3, 1 - short / 90), all = wide.reduce((sum, width, k) => sum + (long[k] ? width : 0), 0);
  const share = (k) => `>{\\raggedright\\arraybackslash}p{${(0.7 * left * wide[k] / all).toFixed(2)}\\linewidth}`;
  const columns = numbers.map((one, k) => one ? "r" : long[k] ? share(k) : "l").join("");
  return ["% \\usepackage{booktabs, array}", "\\begin{table}", "  \\centering",
    `  \\caption{${escape(table.caption.textContent)}}`,
    `  \\begin{tabular}{${columns}}`, "  \\toprule",
    line(heads.map((one) => (one.querySelector("button") ?? one).textContent)), "  \\midrule",
    ...rows.map((row) => line(said(row))), "  \\bottomrule", "  \\end{tabular}", "\\end{table}"].join("\n");
};
for (const figure of document.querySelectorAll("figure")) {
  const saved = {href: figure.querySelector("img").src, download: figure.dataset.file, textContent: "SVG"};
  figure.querySelector("figcaption .self").before(" ", make("a", saved));
}
const dialog = document.getElementById("latex"), code = dialog.querySelector("textarea");
const button = (text, act) => {
  const made = make("button", {type: "button", textContent: text});
  made.addEventListener("click", () => act(made));
  return made;
};
dialog.append(
  button("Copy", () => { code.select(); navigator.clipboard?.writeText(code.value); }),
  button("Close", () => dialog.close()));

for (const table of document.querySelectorAll("table")) {
  for (const head of table.tHead.rows[0].cells) {
    const name = head.firstElementChild ?? make("span", {}, ...head.childNodes);
    const sorter = make("button", {type: "button", className: "sort"}, ...name.childNodes);
    name.replaceWith(sorter);
    if (!sorter.isConnected) head.prepend(sorter);
    sorter.addEventListener("click", () => sortBy(table, head));
  }
  const tools = make("div", {className: "tools"}), rows = table.tBodies[0].rows;
  const count = make("span", {role: "status"});
  if (rows.length > 5) {
    const search = make("input", {type: "search", placeholder: `Search ${rows.length} rows`});
    search.setAttribute("aria-label", "Search in: " + table.caption.textContent);
    search.addEventListener("input", () => {
      const words = search.value.toLowerCase().split(/\s+/);
      let found = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        found += !row.hidden;
      }
      count.textContent = search.value ? `${found} of ${rows.length} rows` : "";
    });
    tools.append(search);
  }
  if (table.dataset.details !== undefined) {
    tools.append(button("All columns", (made) => {
      const all = table.classList.toggle("all");
      made.setAttribute("aria-pressed", all);
    }));
  }
  tools.append(button("LaTeX", () => { code.value = latexOf(table); dialog.showModal(); code.select(); }), count);
  table.parentElement.before(tools);
}
"""
