"""Makes 2000 small mistakes in hand-written programs and prints which were found.

    ./dev soak mutants [COUNT]
"""

import os
import pathlib
import subprocess
import sys

tests = pathlib.Path(os.environ["FACET_BUILD"]) / "test/Unit/FacetSimTests"
count = (sys.argv[1:2] or ["2000"])[0]
sys.exit(subprocess.run([tests, "--gtest_filter=Mutants.*", "--gtest_brief=1"],
                        env=os.environ | {"FACET_MUTANTS": count}, check=False).returncode)
