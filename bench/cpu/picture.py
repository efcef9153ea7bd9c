"""A picture of what bench/cpu/main.cpp measured: a line per case, a mark per peer, by its share of the peak."""

from html import escape

import table

LINE, LEFT, RIGHT, TOP, WIDTH = 15, 330, 60, 70, 1060
OURS, PACKED, OTHERS = "#c2410c", "#1d4ed8", "#9ca3af"


def draw(rows):
    everything = table.cases(rows)
    height = TOP + LINE * (len(everything) + 2 * len({key[0] for key in everything})) + 30
    scale = WIDTH - LEFT - RIGHT
    largest = max([1.0] + [row.share for row in rows])

    def x(share):
        return LEFT + scale * share / largest

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
           '<text x="16" y="22" font-size="15">Share of the multiply-add peak, median</text>']
    for place, colour, label, filled in ((16, OURS, "facet", 1), (90, PACKED, "facet-packed", 1),
                                         (200, OTHERS, "libraries", 0), (290, "black", "best library", 0)):
        out.append(mark(place + 5, 40, colour, filled) + f'<text x="{place + 14}" y="44">{label}</text>')
    for tenth in range(0, 11, 2):
        at = x(tenth / 10)
        out.append(f'<line x1="{at:.1f}" y1="{TOP - 12}" x2="{at:.1f}" y2="{height - 20}" stroke="#e5e7eb"/>'
                   f'<text x="{at:.1f}" y="{TOP - 16}" text-anchor="middle">{tenth / 10:.1f}</text>')
    y, group = TOP, None
    for (name, case, threads), here in everything.items():
        if name != group:
            group, y = name, y + LINE
            out.append(f'<text x="16" y="{y}" font-weight="bold">{escape(name)}</text>')
            y += LINE
        label = case + (f", {threads} threads" if threads > 1 else "")
        out.append(f'<text x="{LEFT - 10}" y="{y}" text-anchor="end">{escape(label)}</text>')
        best = [table.library(here, packed) for packed in (False, True)]
        for row in sorted(here, key=lambda row: row.ours):
            if row.again or not row.ok:
                continue
            colour = (PACKED if row.packed else OURS) if row.ours else "black" if row in best else OTHERS
            title = f"{row.peer}: {row.median:.1f} GFLOP/s, {row.share:.3f}"
            out.append(f"<g><title>{escape(title)}</title>{mark(x(row.share), y - 4, colour, row.ours)}</g>")
        y += LINE
    return "\n".join(out) + "\n</svg>\n"


def mark(x, y, colour, filled):
    if filled:
        return f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="{colour}" fill-opacity="0.85"/>'
    return f'<line x1="{x:.1f}" y1="{y - 5}" x2="{x:.1f}" y2="{y + 5}" stroke="{colour}" stroke-width="2"/>'
