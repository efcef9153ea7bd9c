"""refused.py PREFIX: each mistake in a CMakeLists.txt has its own message."""
import os
import stat
import sys

from project import Project

prefix = sys.argv[1]
HEAD = """cmake_minimum_required(VERSION 3.20)
project(P NONE)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
"""
FIND = "find_package(Facet CONFIG REQUIRED)\n"
# What the CMakeLists.txt says; what the message says, whatever its line breaks.
CASES = [
    ("facet_add_library(k SOURCES a.facet SOURCE b.facet)",
     "facet_add_library(k): 'SOURCE' is no source; they end in .facet, or .mlir for the kernel dialect"),
    ("facet_add_library(k a.facet)",
     "facet_add_library(k): unknown argument 'a.facet'; there are SOURCES, TARGETS, MACHINE, DEFINE, SCHEDULES, "
     "INCLUDE_DIRS, EMIT, OPTIONS, DEPENDS, NAMESPACE, HEADER_DIR, RUNTIME, TRIPLE"),
    ("facet_add_library(k TARGETS reference)", "facet_add_library(k): no SOURCES"),
    ("facet_add_library(k SOURCES a.facet NAMESPACE)", "facet_add_library(k): no value after NAMESPACE"),
    ("facet_add_library(k SOURCES a.facet b.facet)", "facet_add_library(k): there is no file '{source}/b.facet' (SOURCES)"),
    ("facet_add_library(k SOURCES a.facet SCHEDULES s.facet)", "facet_add_library(k): there is no file '{source}/s.facet' (SCHEDULES)"),
    ("facet_add_library(k SOURCES a.facet MACHINE m.yaml)", "facet_add_library(k): there is no file '{source}/m.yaml' (MACHINE)"),
    ("facet_add_library(k SOURCES a.facet MACHINE trn2)", "MACHINE takes names of .yaml files without commas, not 'trn2'"),
    ("facet_add_library(k SOURCES $<1:a.facet>)", "SOURCES takes file names, not the generator expression '$<1:a.facet>'"),
    ("facet_add_library(k SOURCES a.facet sub/a.facet)", "'{source}/a.facet' and '{source}/sub/a.facet' would both make 'a.h'"),
    ("facet_add_library(k SOURCES a.facet DEFINE 4096)", "DEFINE takes SIZE=VALUES, not '4096'"),
    ("facet_add_library(k SOURCES a.facet EMIT object)", "EMIT takes asm, llvm, mlir, kernel and engine, not 'object'"),
    ("facet_add_library(k SOURCES a.facet EMIT engine)", "EMIT engine needs a matrix engine in TARGETS or MACHINE"),
    ("facet_add_library(k SOURCES a.facet RUNTIME openmp)", "RUNTIME is shared, static or none, not 'openmp'"),
    ("set(CMAKE_SYSTEM_NAME Haiku)\nfacet_add_library(k SOURCES a.facet)",
     "no triple is known for system 'Haiku', processor 'x86_64'; give TRIPLE"),
]
# Before the package is found.
MISSING = [
    ("set(Facet_EXECUTABLE /nowhere/facet)\n" + FIND, "Facet_EXECUTABLE is '/nowhere/facet', which does not run:"),
    ("set(Facet_EXECUTABLE {source}/old)\n" + FIND,
     "Facet_EXECUTABLE is '{source}/old' of version 0.0.1, and this package is version"),
    ("find_package(Facet CONFIG REQUIRED COMPONENTS gpu)", "there is no component 'gpu'; the package has none"),
    ("find_package(Facet 99.1 CONFIG REQUIRED)", 'compatible with requested version "99.1"'),
    ("find_package(Facet CONFIG REQUIRED)\nfind_package(Facet CONFIG REQUIRED)\nmessage(FATAL_ERROR \"found twice\")", "found twice"),
]

source = os.path.abspath("source")
os.makedirs(f"{source}/sub", exist_ok=True)
for name in ("a.facet", "sub/a.facet"):
    open(f"{source}/{name}", "w").close()
with open(f"{source}/old", "w", encoding="utf-8") as file:
    file.write("#!/bin/sh\necho 0.0.1\n")
os.chmod(f"{source}/old", stat.S_IRWXU)

project = Project(source, "build", "Ninja", prefix)
for text, wanted in [(FIND + text, wanted) for text, wanted in CASES] + MISSING:
    with open(f"{source}/CMakeLists.txt", "w", encoding="utf-8") as file:
        file.write(HEAD + text.replace("{source}", source) + "\n")
    code, said = project.configure()
    wanted = wanted.replace("{source}", source)
    assert code != 0 and " ".join(wanted.split()) in " ".join(said.split()), (text, wanted, said)
