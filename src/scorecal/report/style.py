"""The look of a report: light and dark, from a phone to a desk."""

STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #ffffff; --line: #c8c8c8; --good: #0b5d3b; --bad: #9c2f00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --paper: #16181b; --line: #4a4d52; --good: #6fd3a4; --bad: #ff9b6b; }
}
body { margin: 0; color: var(--ink); background: var(--paper); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
.verdict { font-size: 1.15rem; border-left: .4rem solid; padding: .5rem .8rem; }
.good { border-color: var(--good); } .good strong { color: var(--good); }
.warning { border-left: .4rem solid var(--bad); padding: .2rem .8rem; }
.bad { border-color: var(--bad); } .bad strong { color: var(--bad); }
figure { margin: 1rem 0; max-width: 38rem; } figure svg { width: 100%; height: auto; }
figcaption { font-size: .9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { border-bottom-width: 2px; }
tbody th { font-weight: normal; overflow-wrap: anywhere; min-width: 6rem; }
@media (max-width: 30rem) { table { font-size: .8rem; } th, td { padding: .25rem .3rem; } }
"""
