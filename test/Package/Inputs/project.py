"""Configures and builds projects as users do, and says which steps ran."""
import os
import re
import subprocess
import time

STEPS = [
    (re.compile(r"Building Facet output .*?([^/\s]+)$"), "facet {}"),
    (re.compile(r"Building (?:C|CXX) object .*?([^/\s]+)\.o$"), "compile {}"),
    (re.compile(r"Linking (?:C|CXX) (?:static library|executable|shared library) .*?([^/\s]+)$"), "link {}"),
]


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


class Project:
    """A source folder, a build folder and a generator of CMake."""

    def __init__(self, source, build, generator, prefix, *options):
        self.source, self.build, self.generator = source, build, generator
        self.prefix, self.options = prefix, options

    def configure(self, *options):
        done = run("cmake", "-S", self.source, "-B", self.build, "-G", self.generator,
                   f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_BUILD_TYPE=Release", *self.options, *options)
        return done.returncode, done.stdout + done.stderr

    def make(self, *arguments):
        """The steps that a build ran, sorted; the failure's text when it failed."""
        done = run("cmake", "--build", self.build, *arguments)
        text = done.stdout + done.stderr
        if done.returncode:
            return text
        steps = []
        for line in text.splitlines():
            for pattern, name in STEPS:
                if found := pattern.search(line.strip()):
                    steps.append(name.format(found[1]))
        return sorted(steps)


def edit(path, old, new):
    """Replaces `old`; the file's time is beyond doubt a later one."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert old in text, (path, old, text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))
    touch(path)


def touch(path):
    """make compares times of some file systems in whole milliseconds."""
    time.sleep(0.02)
    os.utime(path)
