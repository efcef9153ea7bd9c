"""facet_library: a cc_library from kernels."""

def facet_library(name, srcs, imports = [], targets = [], defines = {}, options = [], deps = [], **kwargs):
    """Compiles each of `srcs` to an object and a header, and makes a cc_library of them.

    Args:
      name: of the cc_library; who depends on it includes "SOURCE.h".
      srcs: .facet files.
      imports: .facet files that they import. Bazel shows an action what is declared and
        nothing else, so an import that is missing here is an error at its place in the source.
      targets: what --target= takes.
      defines: sizes to fix, {"M": "1,16,*"}.
      options: of `facet compile`, as they are.
      deps: of the cc_library.
      **kwargs: of the cc_library: visibility, tags.
    """
    flags = ["-D %s='%s'" % (size, values) for size, values in defines.items()] + options
    if targets:
        flags = ["--target=" + ",".join(targets)] + flags
    objects = []
    headers = []
    for src in srcs:
        stem = src.split("/")[-1][:-len(".facet")]
        native.genrule(
            name = name + "_" + stem,
            srcs = [src] + imports,
            outs = [stem + ".o", stem + ".h"],
            tools = ["@facet//:compiler"],
            cmd = "$(execpath @facet//:compiler) compile %s $(execpath %s) -o $(execpath %s.o) --header $(execpath %s.h)" %
                  (" ".join(flags), src, stem, stem),
            message = "Compiling kernels",
        )
        objects.append(stem + ".o")
        headers.append(stem + ".h")
    native.cc_library(
        name = name,
        srcs = objects,
        hdrs = headers,
        includes = ["."],
        deps = ["@facet//:runtime"] + deps,
        **kwargs
    )
