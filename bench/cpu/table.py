"""A table of what bench/cpu/main.cpp measured: one line per case, our rows beside the best library's.

Medians; a case passes at its bar less the distance between the best library's two rows.
"""

import csv

import bars


class Row:
    def __init__(self, fields):
        self.group, self.case, self.peer = fields["class"], fields["case"], fields["peer"]
        self.threads = int(fields["threads"])
        self.best, self.median = float(fields["best_gflops"]), float(fields["median_gflops"])
        self.peak, self.bandwidth = float(fields["peak_gflops"]), float(fields["bandwidth_gbs"])
        self.ok = fields["ok"] == "1"

    share = property(lambda self: self.median / self.peak)
    ours = property(lambda self: self.peer.startswith("facet"))
    packed = property(lambda self: "-packed" in self.peer)
    again = property(lambda self: self.peer.endswith("-again"))


def read(path):
    with open(path, newline="") as file:
        return [Row(fields) for fields in csv.DictReader(file)]


def cases(rows):
    """Rows by (class, case, threads), in the order of the file."""
    result = {}
    for row in rows:
        result.setdefault((row.group, row.case, row.threads), []).append(row)
    return result


def noise(rows):
    """How far the two rows of one library are apart, as a share of the peak."""
    for again in rows:
        if again.again:
            for first in rows:
                if first.peer + "-again" == again.peer:
                    return abs(first.share - again.share)
    return 0.0


def verdict(row, rows, everything):
    """An empty text, or what it misses."""
    if not row.ok:
        return "wrong"
    slack = noise(rows) + (0.02 if row.threads > 1 else 0)
    aim = bars.bar(row.group, row.case, row.packed)
    if aim is not None and row.share < aim - slack:
        return f"below {aim:.2f}"
    return below_memory(row, rows, slack) or below_relative(row, everything, slack)


def below_memory(row, rows, slack):
    few = bars.few_rows(row.case)
    if not few:
        return ""
    m, bytes_per_operation, keep = few
    if not row.packed:
        for packed in rows:
            if packed.ours and packed.packed and row.median < (keep - slack) * packed.median:
                return f"{row.median / packed.median:.2f} of packed, below {keep:.2f}"
        return ""
    if row.case.startswith("f32") and m <= 4:
        read = row.median * bytes_per_operation / row.bandwidth
        return "" if read >= bars.BANDWIDTH - slack else f"{read:.2f} of the bandwidth, below {bars.BANDWIDTH}"
    other = library(rows, True)
    if other and row.share < other.share - slack:
        return f"below {other.peer}"
    return ""


def below_relative(row, everything, slack):
    against = bars.relative(row.group, row.case)
    if against:
        name, keep = against
        for bare in everything.get((row.group, name, row.threads), []):
            if bare.peer == row.peer:
                kept = row.median / bare.median
                return "" if kept >= keep - slack else f"{kept:.2f} of {name}, below {keep:.2f}"
    return ""


def library(rows, packed):
    """The best library of a league."""
    others = [row for row in rows if not row.ours and not row.again and row.ok and row.packed == packed]
    return max(others, key=lambda row: row.median, default=None)


def cells(row, here):
    """Our row, the best library of its league, and how we compare: shares of the peak, GFLOP/s in brackets."""
    if not row:
        return ["", "", ""]
    other = library(here, row.packed)
    mine = f"{row.share:.2f} ({row.median:.0f})"
    return [mine, f"{other.share:.2f} {other.peer}", f"{row.median / other.median:.2f}"] if other else [mine, "none", ""]


def text(rows):
    everything, lines, heading = cases(rows), [], None
    for (group, case, threads), here in everything.items():
        title = group if threads == 1 else f"{group}, {threads} threads"
        if title != heading:
            heading = title
            lines += ["", f"### {title}", "",
                      "| case | facet | best library | ratio | facet-packed | best library, packed | ratio | |",
                      "| --- | --- | --- | --- | --- | --- | --- | --- |"]
        ours = {row.packed: row for row in here if row.ours}
        misses = [("packed: " if packed else "") + verdict(row, here, everything)
                  for packed, row in sorted(ours.items()) if verdict(row, here, everything)]
        lines.append("| " + " | ".join([case, *cells(ours.get(False), here), *cells(ours.get(True), here),
                                        "; ".join(misses)]) + " |")
    return "\n".join(lines).lstrip() + "\n" + summary(everything)


def summary(everything):
    """Geometric means against each library over the cases it runs."""
    ratios = {}
    for here in everything.values():
        ours = {row.packed: row for row in here if row.ours}
        for row in here:
            mine = ours.get(row.packed)
            if not row.ours and not row.again and row.ok and mine and row.median > 0:
                ratios.setdefault(row.peer, []).append(mine.median / row.median)
    lines = ["", "| against | cases | geometric mean | worst | best |", "| --- | --- | --- | --- | --- |"]
    for peer, values in sorted(ratios.items()):
        mean = 1.0
        for value in values:
            mean *= value ** (1 / len(values))
        lines.append(f"| {peer} | {len(values)} | {mean:.2f} | {min(values):.2f} | {max(values):.2f} |")
    return "\n".join(lines) + "\n"
