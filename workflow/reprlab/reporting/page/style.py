"""The page's one style sheet."""

_LIGHT = """--ink: #1b2330; --soft: #566072; --line: #d6dce5; --page: #fff; --wash: #f3f5f8; --link: #0a559f;
  --picture: #fff;
  --good: #14532d; --good-bg: #e4f4ea; --bad: #8a1c1c; --bad-bg: #fdeaea; --open: #664a00; --open-bg: #fcf3d9;
  --none: #475063; --none-bg: #eceff4; --box: #eef3f9; --edge: #8d99a8; --frame: #5b7ea6;"""
_DARK = """--ink: #e4e8ee; --soft: #a3adbb; --line: #363e4b; --page: #12161c; --wash: #1b212a; --link: #7db7f5;
  --picture: #e9ecf0;
  --good: #9fe0b6; --good-bg: #143322; --bad: #ffb3ae; --bad-bg: #401a1c; --open: #f2d58a; --open-bg: #3a2f10;
  --none: #b9c2cf; --none-bg: #272e39; --box: #1e2b3b; --edge: #6b7687; --frame: #5b7ea6;"""

STYLE = (
    f":root {{ color-scheme: light; {_LIGHT} }}\n"
    "@media (prefers-color-scheme: dark) {"
    f" :root:not([data-theme=light]) {{ color-scheme: dark; {_DARK} }} }}\n"
    f":root[data-theme=dark] {{ color-scheme: dark; {_DARK} }}\n"
    + r"""
* { box-sizing: border-box; }
html { scroll-padding-top: .75rem; }
body { margin: 0; color: var(--ink); background: var(--page); font: 16px/1.5 system-ui, "Segoe UI", sans-serif;
  display: grid; grid-template-columns: 16rem minmax(0, 1fr); overflow-wrap: break-word; }
main, header, footer { padding: 1rem 2rem; min-width: 0; max-width: 90rem; }
header, main, footer { grid-column: 2; }
header { padding-bottom: 0; }
main > section:first-child h2 { margin-top: 0; }
nav { grid-column: 1; grid-row: 1 / span 9; position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1rem;
  background: var(--wash); border-right: 1px solid var(--line); font-size: .88rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav ul ul { padding-left: .8rem; border-left: 1px solid var(--line); margin: .1rem 0 .5rem; }
nav a { display: block; padding: .12rem 0; text-decoration: none; }
nav a:hover { text-decoration: underline; }
nav summary { padding: .12rem 0; }
nav.live [data-paper] ul { display: none; }
nav.live .here ul { display: block; }
#contents > summary { font-weight: 700; margin-bottom: .4rem; }
h1 { font-size: 1.6rem; margin: .2rem 0 .4rem; line-height: 1.25; }
h2 { font-size: 1.3rem; margin: 2rem 0 .6rem; line-height: 1.3; }
h3 { font-size: 1.1rem; margin: 2rem 0 .4rem; padding-top: .5rem; border-top: 1px solid var(--line); }
h4 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
p { max-width: 52rem; margin: .4rem 0; }
a { color: var(--link); }
a.self { color: var(--soft); text-decoration: none; font-weight: 400; margin-left: .35rem; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: .5rem; top: .5rem; background: var(--page); padding: .4rem; z-index: 9; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
dl.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .1rem 1rem; margin: .6rem 0;
  font-size: .9rem; }
dl.facts dt { color: var(--soft); }
dl.facts details { margin: 0; }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
code { font: .92em ui-monospace, monospace; background: var(--wash); padding: .05rem .3rem; border-radius: 3px; }
.scroll { position: relative; overflow: auto; max-height: 36rem; border: 1px solid var(--line); border-radius: 4px;
  margin: .3rem 0 .8rem; }
table { border-collapse: collapse; font-size: .84rem; line-height: 1.4; width: 100%;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: .35rem .5rem; color: var(--soft); }
th, td { padding: .28rem .5rem; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { background: var(--wash); position: sticky; top: 0; z-index: 1; border-top: 0; }
td { min-width: 2.6rem; }
td.number { text-align: right; white-space: nowrap; }
td.long { min-width: 9rem; overflow-wrap: anywhere; }
td small, th small { display: block; color: var(--soft); font-size: .92em; font-weight: 400; }
td.number small { font-size: .88em; }
tbody tr:nth-child(even) { background: color-mix(in srgb, var(--wash) 45%, transparent); }
tr:target, details:target > summary, figure:target { background: var(--open-bg) !important; }
.whole { max-height: none; }
.detail { display: none; }
.all .detail { display: table-cell; }
.same { font-size: .86rem; color: var(--soft); max-width: none; }
.tools { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; font-size: .84rem; color: var(--soft);
  margin-top: .4rem; }
button, input { font: inherit; color: inherit; background: var(--wash); border: 1px solid var(--line);
  border-radius: 4px;
  padding: .12rem .55rem; }
button { cursor: pointer; }
.sort { border: 0; background: none; padding: 0; font-weight: 600; text-align: left; }
.sort::after { content: "\a0↕"; color: var(--soft); font-weight: 400; }
[aria-sort=ascending] .sort::after { content: "\a0↑"; }
[aria-sort=descending] .sort::after { content: "\a0↓"; }
dialog { width: min(60rem, 94vw); background: var(--page); color: var(--ink); border: 1px solid var(--line); }
dialog textarea { width: 100%; height: 24rem; font: .85rem ui-monospace, monospace; color: inherit;
  background: var(--wash); }
details { margin: .4rem 0; }
summary { cursor: pointer; }
summary h2, summary h4 { display: inline; }
details.paper { border: 1px solid var(--line); border-radius: 6px; padding: .6rem 1rem; margin: .8rem 0; }
details.paper > summary { padding: .2rem 0; }
ul.chips, ul.legend { list-style: none; padding: 0; margin: .3rem 0; display: flex; flex-wrap: wrap;
  gap: .25rem .35rem; }
ul.legend { flex-direction: column; font-size: .86rem; color: var(--soft); }
td ul.chips { gap: .15rem; }
.chip { display: inline-block; padding: 0 .4rem; border-radius: 3px; border: 1px solid; white-space: nowrap;
  text-decoration: none;
  font-size: .84rem; line-height: 1.45; }
a.chip { min-width: 3rem; }
.mark { font-size: .9em; }
.chip.good { color: var(--good); background: var(--good-bg); } .mark.good { color: var(--good); }
.chip.bad { color: var(--bad); background: var(--bad-bg); } .mark.bad { color: var(--bad); }
.chip.open { color: var(--open); background: var(--open-bg); }
.chip.none { color: var(--none); background: var(--none-bg); }
.figures { display: grid; gap: 0 1.5rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); }
.wide { grid-column: 1 / -1; }
figure { margin: .6rem 0 1.2rem; padding: .2rem; min-width: 0; }
figure img { max-width: 100%; height: auto; background: var(--picture); border-radius: 4px; }
figcaption { font-size: .9rem; max-width: 60rem; }
.words { font-size: .86rem; color: var(--soft); }
.graph svg { max-width: 100%; height: auto; color: var(--ink); }
.graph rect { fill: var(--box); stroke: var(--frame); } .graph path { stroke: var(--edge); }
  .graph text { fill: var(--ink); }
footer { color: var(--soft); font-size: .85rem; }
@media (max-width: 68rem) {
  body { display: block; }
  nav { display: flex; justify-content: space-between; align-items: start; padding: .4rem 1rem;
    position: sticky; top: 0; height: auto; max-height: 80vh; z-index: 5; border-bottom: 1px solid var(--line); }
  #contents > summary { margin: 0; }
  html { scroll-padding-top: 3rem; }
}
@media (min-width: 44.01rem) {
  .claims td:first-child { width: 25%; } .claims td:nth-child(5) { width: 30%; } .claims td:nth-child(6) { width: 22%; }
  #table-overview td:nth-child(2) { width: 32%; } #table-overview td:first-child { width: 20%; }
}
@media (max-width: 44rem) {
  body { font-size: 15px; }
  main, header, footer { padding: .7rem .8rem; }
  details.paper { padding: .4rem .5rem; }
  dl.facts { grid-template-columns: 1fr; gap: 0; } dl.facts dd { margin-bottom: .3rem; }
  th, td { padding: .22rem .35rem; }
  .scroll:not(.whole) { max-height: 30rem; }
  figure { overflow-x: auto; }
  .wide img { max-width: none; width: 44rem; }
  .cards thead { display: none; }
  .cards, .cards tbody, .cards caption { display: block; }
  .cards tr { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); border-top: 1px solid var(--line);
  padding: .3rem 0; }
  .cards tr[hidden] { display: none; }
  .cards td { border: 0; padding: .08rem .4rem; grid-column: 1 / -1; min-width: 0; text-align: left; }
  .cards td:empty { display: none; }
  .cards td.c-ours, .cards td.c-published, .cards td.c-difference { grid-column: auto; }
  .cards .c-ours::before, .cards .c-published::before, .cards .c-difference::before { display: block; }
  .cards td[data-label]::before { content: attr(data-label) ": "; color: var(--soft); }
}
@media print { nav, .tools, #theme { display: none; } body { display: block; } .scroll { max-height: none;
  overflow: visible; } }
"""
)
