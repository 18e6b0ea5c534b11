"""The looks of the page, in daylight and in the dark."""

STYLE = """
:root { --ink: #1b1f24; --faint: #5b6570; --ground: #fdfdfc; --rule: #d9dee3; --shade: #f1f4f6;
  --yes: #00704f; --part: #8a5a00; --no: #b03a00; --ours: #eef4fa; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7ea; --faint: #9aa4ae; --ground: #15181b;
  --rule: #343b42; --shade: #1e2327; --yes: #4fc9a0; --part: #e5b24a; --no: #ff8f5e; --ours: #1a2530; }
  figure img { filter: invert(0.9) hue-rotate(180deg); } }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1.2rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.25; }
h2 { font-size: 1.25rem; margin-top: 2.6rem; border-bottom: 1px solid var(--rule); padding-bottom: 0.3rem; }
p, dl { max-width: 48rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1.2rem; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
.warning { border-left: 4px solid var(--part); background: var(--shade); padding: 0.7rem 1rem; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.86rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--faint); padding-bottom: 0.5rem; }
th, td { padding: 0.3rem 0.7rem; text-align: right; vertical-align: top; white-space: nowrap; }
th { font-weight: 600; text-align: left; } thead th { border-bottom: 2px solid var(--rule); }
thead th.ours, tbody th.ours, td.ours { background: var(--ours); }
tr.first > * { border-top: 1px solid var(--rule); }
td b { font-weight: 400; } td.best b { font-weight: 700; }
td.top b { text-decoration: underline; text-underline-offset: 3px; }
small, .paper { color: var(--faint); } .paper { display: block; font-size: 0.78rem; }
table.words td { text-align: left; white-space: normal; border-top: 1px solid var(--rule); }
table.words td:first-child { white-space: normal; min-width: 5rem; }
td.yes, td.part, td.no, td.untold { font-weight: 700; white-space: nowrap !important; }
td.yes { color: var(--yes); } td.part { color: var(--part); } td.no { color: var(--no); }
details { margin-top: 0.2rem; } summary { cursor: pointer; color: var(--faint); }
ul { margin: 0.3rem 0; padding-left: 1.1rem; }
figure { margin: 1rem 0; } figure img { width: 100%; height: auto; max-width: 64rem; }
figcaption { color: var(--faint); font-size: 0.86rem; max-width: 48rem; }
"""
