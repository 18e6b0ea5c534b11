"""The looks of the paper's page: those of every page, and its verdicts and tables of figures."""

from cellworth.report import page

STYLE = (
    page.STYLE
    + """
:root { --yes: #00704f; --part: #8a5a00; --no: #b03a00; --ours: #eef4fa; }
@media (prefers-color-scheme: dark) { :root { --yes: #4fc9a0; --part: #e5b24a; --no: #ff8f5e;
  --ours: #1a2530; } }
.warning { border-left: 4px solid var(--part); background: var(--shade); padding: 0.7rem 1rem; }
thead th.ours, tbody th.ours, td.ours { background: var(--ours); }
tr.first > * { border-top: 1px solid var(--rule); }
td b { font-weight: 400; } td.best b { font-weight: 700; }
td.top b { text-decoration: underline; text-underline-offset: 3px; }
.paper { color: var(--faint); display: block; font-size: 0.78rem; }
table.words td:first-child { white-space: normal; min-width: 5rem; }
td.yes, td.part, td.no, td.untold { font-weight: 700; white-space: nowrap !important; }
td.yes { color: var(--yes); } td.part { color: var(--part); } td.no { color: var(--no); }
"""
)
