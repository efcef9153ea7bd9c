"""check-tables.py HELP BASH ZSH FISH MANUAL: each names every option of HELP."""
import re
import sys

texts = [open(name, encoding="utf-8").read() for name in sys.argv[1:]]
helptext, bash, zsh, fish, manual = texts
options = re.findall(r"^  (--?[A-Za-z][\w-]*)", helptext, re.M)
assert len(options) > 25, options
for option in options:
    option = option.removesuffix("GROUP")  # its value follows at once
    name = option.lstrip("-")
    flag = "-l" if option.startswith("--") else "-s" if len(name) == 1 else "-o"
    assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", bash), ("bash", option)
    assert f"'*{option}" in zsh, ("zsh", option)
    assert re.search(rf"{flag} {re.escape(name)} ", fish), ("fish", option)
    assert ".B " + option.replace("-", "\\-") in manual, ("manual", option)
