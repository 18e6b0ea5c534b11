"""The looks of a page, in daylight and in the dark, on a desk and on a telephone."""

STYLE = """
:root { --ink: #1b1f24; --faint: #5b6570; --ground: #fdfdfc; --rule: #d9dee3; --shade: #f1f4f6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7ea; --faint: #9aa4ae; --ground: #15181b;
  --rule: #343b42; --shade: #1e2327; }
  figure img { filter: invert(0.9) hue-rotate(180deg); } }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1.2rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin-top: 2.6rem; border-bottom: 1px solid var(--rule); padding-bottom: 0.3rem; }
p, dl { max-width: 48rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1.2rem; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.86rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--faint); padding-bottom: 0.5rem; }
th, td { padding: 0.3rem 0.7rem; text-align: right; vertical-align: top; white-space: nowrap; }
th { font-weight: 600; text-align: left; } thead th { border-bottom: 2px solid var(--rule); }
small { color: var(--faint); }
table.words td { text-align: left; white-space: normal; border-top: 1px solid var(--rule); }
details { margin-top: 0.2rem; } summary { cursor: pointer; color: var(--faint); }
ul { margin: 0.3rem 0; padding-left: 1.1rem; }
figure { margin: 1rem 0; } figure img { width: 100%; height: auto; max-width: 64rem; }
figcaption { color: var(--faint); font-size: 0.86rem; max-width: 48rem; }
"""
"""What all pages share."""

CAMPAIGN = """
h2 + p, h2 + p + p { color: var(--faint); }
ul.tiles { list-style: none; display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr));
  gap: 0.8rem; padding: 0; margin: 1.2rem 0; }
ul.tiles li { background: var(--shade); border-radius: 6px; padding: 0.7rem 0.9rem; }
ul.tiles b { display: block; font-size: 1.45rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
ul.tiles span { color: var(--faint); font-size: 0.86rem; }
figure img { max-width: 44rem; }
td, th { unicode-bidi: isolate; } tbody th { font-weight: 400; }
tbody tr > * { border-top: 1px solid var(--rule); }
td.text { text-align: left; } thead th.number { text-align: right; }
@media (max-width: 30rem) { main { padding: 1rem 0.8rem 3rem; } h1 { font-size: 1.4rem; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 0.4rem; }
  th, td { padding: 0.25rem 0.45rem; } ul.tiles { grid-template-columns: 1fr 1fr; } }
"""
"""What the report of a campaign adds."""
