"""bazel.py PREFIX EXAMPLES CC: reads the Bazel files as the Python that Starlark is, and does what the
rules say, in a folder that holds declared files only. Bazel itself does not run."""
import os
import re
import shutil
import subprocess
import sys

prefix, examples, compiler = sys.argv[1:]
recipe = f"{examples}/build/bazel"
rules = []


def record(kind):
    return lambda **arguments: rules.append((kind, arguments))


class Native:
    genrule = staticmethod(record("genrule"))
    cc_library = staticmethod(record("cc_library"))


def read(name, **names):
    with open(f"{recipe}/{name}", encoding="utf-8") as file:
        exec(compile(file.read(), name, "exec"), names)  # pylint: disable=exec-used
    return names


def loaded(path, symbol):
    assert (path, symbol) == ("//:facet.bzl", "facet_library")


read("WORKSPACE", new_local_repository=record("repository"))
(_, repository), = rules
assert repository["build_file"] == "//:facet.BUILD" and repository["name"] == "facet"
rules.clear()
facet_library = read("facet.bzl", native=Native)["facet_library"]
read("BUILD.bazel", load=loaded, facet_library=facet_library, cc_binary=record("cc_binary"))
(_, genrule), (_, library), (_, binary) = rules
assert library["deps"] == ["@facet//:runtime"] and binary["deps"] == [":" + library["name"]]
rules.clear()


def sandbox(folder, declared):
    for name in declared:
        os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
        shutil.copy(f"{recipe}/{name}", f"{folder}/{name}")


def execute(rule, folder):
    def path(match):
        if match[1] == "@facet//:compiler":
            assert match[1] in rule["tools"]
            return f"{prefix}/bin/facet"
        assert match[1] in rule["srcs"] + rule["outs"], match
        return match[1]
    command = re.sub(r"\$\(execpath ([^)]*)\)", path, rule["cmd"])
    assert "$" not in command, command
    return subprocess.run(["bash", "-ec", command], cwd=folder, capture_output=True, text=True)


sandbox("declared", genrule["srcs"])
done = execute(genrule, "declared")
assert done.returncode == 0, done
sandbox("declared", binary["srcs"])
subprocess.run([compiler, *binary["srcs"], *library["srcs"], f"-I{library['includes'][0]}", f"-I{prefix}/include",
                f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib", "-lfacet-runtime", "-o", "app"], cwd="declared", check=True)
assert subprocess.check_output(["declared/app"], text=True) == "49 16\n256 0\n"

# An import that is not declared is missed by name and place; options arrive.
facet_library(name="k", srcs=["src/dense.facet"], targets=["reference"], defines={"M": "1,*"}, options=["-w"])
genrule = rules[0][1]
sandbox("forgotten", genrule["srcs"])
done = execute(genrule, "forgotten")
assert done.returncode == 1 and "src/dense.facet:1:8: error:" in done.stderr and "activation.facet" in done.stderr, done
assert "--target=reference -D M='1,*' -w" in genrule["cmd"], genrule

# What the BUILD file of an installation names is there.
globbed = []


def find(patterns):
    import glob
    files = [file for pattern in patterns for file in glob.glob(f"{prefix}/{pattern}", recursive=True)]
    globbed.append(files)
    return files


rules.clear()
read("facet.BUILD", package=lambda **_: None, filegroup=record("filegroup"), cc_library=record("cc_library"), glob=find)
assert all(globbed) and os.path.exists(f"{prefix}/{rules[0][1]['srcs'][0]}"), (globbed, rules)
