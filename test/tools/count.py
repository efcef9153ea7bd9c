#!/usr/bin/env python3
"""Prints `N passed, N failed` from the report lit wrote with --output.

Failed is everything that lit counts against a run: FAIL, XPASS, UNRESOLVED and
TIMEOUT. The exit code is 0 only when something passed and nothing failed.
"""

import json
import sys
from collections import Counter

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "EXCLUDED", "SKIPPED"}


def main(path):
    try:
        with open(path) as report:
            tests = json.load(report)["tests"]
    except (OSError, ValueError, KeyError) as error:
        print(f"count.py: no report of lit: {error}", file=sys.stderr)
        tests = []
    codes = Counter(test["code"] for test in tests)
    passed = sum(codes[code] for code in PASSED)
    skipped = sum(codes[code] for code in SKIPPED)
    failed = len(tests) - passed - skipped
    for test in tests:
        if test["code"] not in PASSED | SKIPPED:
            print(f"{test['code'].lower()}: {test['name']}")
    if skipped:
        print(f"{skipped} not supported here (they name a feature this host lacks)")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
