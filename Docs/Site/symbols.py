"""Prepares the symbol graphs of a package's products for one site.

    symbols.py GRAPHS

Prints each public symbol that has no documentation, and then fails. What a product re-exports becomes
its own, and a link to another product's symbol gets the path that it has on the site.
"""
import json
import pathlib
import re
import sys

LINK = re.compile(r"``([A-Za-z_]\w*)((?:/[^`]+)?)``")


def name(symbol):
    return ".".join(symbol["pathComponents"])


def place(symbol):
    location = symbol.get("location")
    if not location:
        return name(symbol)
    return f"{location['uri'].removeprefix('file://')}:{location['position']['line'] + 1}: {name(symbol)}"


def undocumented(symbols):
    """The symbols without documentation.

    An extension is no declaration, and the compiler declares the names with a dollar sign.
    """
    for symbol in symbols:
        is_declared = symbol["kind"]["identifier"] != "swift.extension" and "$" not in symbol["pathComponents"][-1]
        if is_declared and "docComment" not in symbol:
            yield f"{place(symbol)} has no documentation"


def adopt(graph):
    """Makes the comments of re-exported declarations the product's own.

    Otherwise docc takes them for comments that were inherited from a dependency, and checks less.
    """
    for symbol in graph["symbols"]:
        comment = symbol.get("docComment", {})
        if "uri" in comment and comment["uri"] == symbol.get("location", {}).get("uri"):
            comment["module"] = graph["module"]["name"]


def link_products(graphs):
    """Completes the links between products."""
    homes = {}
    for product, graph in graphs:
        for symbol in graph["symbols"]:
            if len(symbol["pathComponents"]) == 1:
                homes.setdefault(symbol["pathComponents"][0], set()).add(product)
    for product, graph in graphs:
        def complete(match):
            products = homes.get(match[1], {product})
            if product in products or len(products) > 1:
                return match[0]
            return f"``/{min(products)}/{match[1]}{match[2]}``"

        for symbol in graph["symbols"]:
            for line in symbol.get("docComment", {}).get("lines", []):
                line["text"] = LINK.sub(complete, line["text"])


def main():
    paths = sorted(pathlib.Path(sys.argv[1]).glob("*.symbols.json"))
    # Extensions of other modules' types have graphs of their own: "Product@Module".
    graphs = [(path.name.split(".")[0].split("@")[0], json.loads(path.read_text())) for path in paths]
    faults = sorted({fault for _, graph in graphs for fault in undocumented(graph["symbols"])})
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        return 1
    for _, graph in graphs:
        adopt(graph)
    link_products(graphs)
    for path, (_, graph) in zip(paths, graphs):
        path.write_text(json.dumps(graph))
    return 0


if __name__ == "__main__":
    sys.exit(main())
