"""The page's one style sheet and its one script."""

STYLE = """
:root { --ink: #1d2430; --soft: #5b6472; --line: #d9dee6; --paper: #ffffff; --wash: #f4f6f9; --link: #0b5cad; }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body { margin: 0; color: var(--ink); background: var(--paper); font: 16px/1.5 system-ui, "Segoe UI", sans-serif; }
header, main, footer { max-width: 76rem; margin: 0 auto; padding: 1rem 1.25rem; }
header { border-bottom: 1px solid var(--line); }
h1 { font-size: 1.7rem; margin: .4rem 0; }
h2 { font-size: 1.35rem; margin: 2.4rem 0 .6rem; padding-top: .6rem; border-top: 3px solid var(--ink); }
h3 { font-size: 1.1rem; margin: 1.8rem 0 .5rem; }
p { max-width: 46rem; margin: .5rem 0; }
a { color: var(--link); }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .3rem 1rem; padding: 0; margin: .5rem 0; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: .5rem; top: .5rem; background: var(--paper); padding: .4rem; }
.scroll { overflow: auto; max-height: 34rem; border: 1px solid var(--line); border-radius: 4px; margin: .6rem 0; }
table { border-collapse: collapse; font-size: .84rem; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: .45rem .6rem; color: var(--soft); }
th, td { padding: .28rem .6rem; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
.summary .verdict { margin: .1rem 0; }
th { background: var(--wash); white-space: nowrap; position: sticky; top: 0; }
tbody th { background: none; white-space: normal; position: static; font-weight: 600; }
td { min-width: 3rem; max-width: 26rem; overflow-wrap: break-word; }
th small { display: block; font-weight: 400; white-space: normal; min-width: 7rem; color: var(--soft); }
td.long { min-width: 15rem; }
td.number { text-align: right; white-space: nowrap; }
tbody tr:nth-child(even) { background: #fafbfc; }
.detail { display: none; }
.all .detail { display: table-cell; }
button { font: inherit; font-size: .85rem; padding: .15rem .7rem; border: 1px solid var(--line); border-radius: 4px;
  background: var(--wash); cursor: pointer; }
figure { margin: 1rem 0; }
figure img, .graph svg { max-width: 100%; height: auto; }
.picture { overflow-x: auto; }
.picture img { min-width: min(100%, 34rem); }
.picture.wide img { min-width: 44rem; }
figcaption { color: var(--soft); font-size: .9rem; }
details { margin: .5rem 0; }
summary { cursor: pointer; font-weight: 600; }
.verdict { display: inline-block; padding: 0 .45rem; border-radius: 3px; white-space: nowrap; border: 1px solid; }
.good { color: #14532d; background: #e7f5ec; border-color: #9fd3b4; }
.bad { color: #7f1d1d; background: #fdecec; border-color: #efb0b0; }
.open { color: #6b4d00; background: #fdf6e0; border-color: #e6cf86; }
.none { color: #475063; background: #eef1f5; border-color: #c6cdd8; }
.graph { overflow: auto; border: 1px solid var(--line); border-radius: 4px; padding: .5rem; }
.graph svg { max-width: none; }
footer { color: var(--soft); font-size: .85rem; border-top: 1px solid var(--line); margin-top: 3rem; }
@media (max-width: 40rem) {
  body { font-size: 15px; }
  header, main, footer { padding: .8rem; }
  h1 { font-size: 1.4rem; }
  .scroll { max-height: 24rem; }
  th, td { padding: .25rem .4rem; }
}
@media print { .scroll { max-height: none; overflow: visible; } nav, button { display: none; } }
"""

SCRIPT = """
for (const button of document.querySelectorAll("button[data-table]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const all = document.getElementById(button.dataset.table).classList.toggle("all");
    button.setAttribute("aria-expanded", all);
    button.textContent = all ? "Show fewer columns" : "Show all columns";
  });
}
"""
