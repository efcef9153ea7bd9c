# --html: one file that loads nothing, is well formed, stays in its frames and is of bounded size; it says what --json says.
# RUN: mkdir -p %t && env PYTHONPATH=%S/Inputs %python %s %facet-sim %t

import html.parser
import json
import os
import re
import sys
import xml.etree.ElementTree as ET

from product import PRODUCT
from simulate import Case

case = Case(*sys.argv[1:])
VOID = {"meta", "br"}


class Page(html.parser.HTMLParser):
    """Checks that tags nest, and gathers text and tags."""

    def __init__(self, source):
        super().__init__()
        self.open, self.text, self.tags, self.ids = [], [], [], []
        self.feed(source)
        self.close()
        assert self.open == [], self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.text.append(data)


def in_frame(svg):
    """Boxes and words of a figure lie inside its view box."""
    root = ET.fromstring(svg)
    _, _, width, height = map(float, root.get("viewBox").split())
    for e in root.iter():
        if e.tag == "rect":
            x, y, w, h = (float(e.get(k)) for k in ("x", "y", "width", "height"))
            assert w >= 0 and h >= 0 and x >= 0 and y >= 0, ET.tostring(e)
            assert x + w <= width + 0.2 and y + h <= height + 0.2, ET.tostring(e)
        elif e.tag == "text" and e.get("x"):
            assert 0 <= float(e.get("x")) <= width and 0 <= float(e.get("y")) <= height, ET.tostring(e)
    return root


def page(text, *options):
    done = case.raw(text, "--timing-only", "--html", case.path("r.html"), "--json", case.path("s.json"), *options)
    assert done.returncode == 0, done.stderr
    source = open(case.path("r.html"), encoding="utf-8").read()
    found = Page(source)
    # Nothing is loaded: no script, no link, no address, no url() in the style.
    assert not {tag for tag, _ in found.tags} & {"script", "link", "img", "iframe", "object"}
    assert not any({"src", "href", "onload"} & attributes.keys() for _, attributes in found.tags)
    assert "http" not in source and "url(" not in source and "@import" not in source
    assert "prefers-color-scheme: dark" in source
    # Each paint that a figure uses has a colour in both schemes.
    style = source[source.index("<style>"):source.index("</style>")]
    for name in re.findall(r"var\(--([a-z]+)\)", style):
        assert style.count(f"--{name}:") == 2, name
    figures = [in_frame(svg) for svg in re.findall(r"<svg.*?</svg>", source, re.S)]
    for tag, attributes in found.tags:
        if tag == "i" and "style" in attributes:
            assert 0 <= float(re.fullmatch(r"width:([\d.]+)%", attributes["style"])[1]) <= 100.001
    return source, "\n".join(found.text), {f.get("aria-label"): f for f in figures}, json.load(open(case.path("s.json")))


source, text, figures, r = page(PRODUCT)
for words in (f"{r['time_ns'] / 1000:.3f} us", f"{100 * r['utilisation']:.1f} %", "set by dma", "426.0 kB at 368.0 GB/s",
              "Where the time of tensor goes", "Critical path", "Longest waits", "Roofline", "SBUF", "PSUM", "Energy",
              "from tensor 3 matmul", "k.facet:4:1", "ISCA21, bf16 multiply and f32 add", r["build_id"], r["machine_hash"]):
    assert words in text, words
tensor = next(e for e in r["engines"] if e["engine"] == "tensor")
assert re.search(r"transfer\s.*idle\s+tensor\s+%.1f\s" % (100 * tensor["busy_ns"] / r["time_ns"]), text, re.S)
titles = [e.text for e in figures["timeline"].iter("title")]
assert any(t.startswith("tensor 3 matmul at i0 = 1\nmatmul y\nk.facet:3:9\n") for t in titles), titles
assert any(t.startswith("vector 0 copy waits: semaphore summed, released by tensor 3 matmul\n") for t in titles), titles
lanes = [e.text for e in figures["timeline"].iter("text")]
for lane in ("critical path", "tensor", "tensor weights", "vector", "sync", "dma ring 0", "dma ring 3", "tensor clock", "dma rate"):
    assert lane in lanes, (lane, lanes)
assert figures["from the ideal time to the total"] is not None and figures["roofline"] is not None
# Who writes and reads the chip's memories.
sbuf = [e.text for e in figures["memory map of SBUF"].iter("title")]
assert "bytes 0 to 255, partitions 0 to 127\nwritten by sync dma_copy\nread by tensor load_weights" in sbuf, sbuf
assert "bytes 32768 to 34815, partitions 0 to 63\nwritten by vector copy\nread by sync dma_copy" in sbuf, sbuf
psum = [e.text for e in figures["memory map of PSUM"].iter("title")]
assert psum == ["bytes 0 to 2047, partitions 0 to 63\nwritten by tensor matmul\nread by vector copy"], psum
assert "A piece of it" not in text

# A part enlarged; names of buffers; text from the source is text.
declared = PRODUCT.replace(".semaphore full", ".buffer tile scratch sbuf.bf16[128, 1024] at 0x1000 bytes 2048 partitions "
                           "0:128 live 3:9\n.semaphore full", 1).replace('"matmul y"', '"y < <b>x</b> & \\"z\\""')
source, text, figures, _ = page(declared, "--window", "1000:2000")
assert "From 1.000 us to 2.000 us" in text
titles = [e.text for e in figures["memory map of SBUF"].iter("title")]
assert "tile: bf16, 2.048 kB in partitions 0 to 127\nlive in statements 3 to 9" in titles, titles
assert "<b>x" not in source and "y < <b>x</b> & \"z\"" in text

# A long run: a piece of it without being asked, and no more bytes than a long page has.
LONG = """
.semaphore a
.semaphore b
.queue vector
  .ring r0 depth=1
  loop trips=20000
    copy dst=sbuf.f32[0:128, 0, 64], src=sbuf.f32[0:128, 4096, 64], update(a += 1), wait(b >= 0 + 1*round)
    copy dst=sbuf.f32[0:128, 0, 512], src=sbuf.f32[0:128, 4096, 512], if(i0 - 9000 > 0)
    advance ring=r0
  end
.queue scalar
  .ring r0 depth=1
  loop trips=20000
    copy dst=sbuf.f32[0:128, 8192, 64], src=sbuf.f32[0:128, 0, 64], wait(a >= 1 + 1*round), update(b += 1)
    advance ring=r0
  end
"""
LONG = LONG.replace("wait(a >= 1 + 1*round)", "wait(a[r0] >= 1 + 1*round)").replace("wait(b >= 0 + 1*round)", "wait(b[r0] >= 0 + 1*round)")
source, text, figures, r = page(LONG)
assert "A piece of it" in text and "Where the time of vector goes" in text
assert "This program multiplies nothing, or moves nothing." in text
assert len(source) < 600_000, len(source)

# Nothing to show, and too much.
for program in ("", ".queue sync\n  nop\n", ".queue vector\nloop trips=0\nfill dst=sbuf.f32[0:1, 0, 64], value=0.0\nend\n"):
    source, text, _, _ = page(program)
    assert "Nothing of it is used." in text
_, text, _, _ = page(".queue vector\n.ring r0 depth=2\nloop trips=2100000\nadvance ring=r0\nend\n")
assert "This run has too many instructions to keep each of them." in text and "Critical path" not in text

done = case.raw(PRODUCT, "--timing-only", "--html", "-", "--stats")
assert done.returncode == 2 and "more than one result is to go to standard output" in done.stderr
assert os.path.exists(case.path("r.html"))
