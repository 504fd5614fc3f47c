"""Checks and finishes the pages that docc has made.

    pages.py SITE GUIDES

Prints each symbol of a product and each guide that is in no topic, and each type with many members
outside of topics; then it fails. Otherwise the products are placed below the front page, the pages
are made independent of the path at which they are served, each gets a form that searches all, and index.html
leads to the front page.
"""
import json
import pathlib
import sys

import search

FRONT = "readme"
# The most members that a page may have outside of topics. Fewer are found at a glance.
MOST = 20

ENTRY = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<meta http-equiv="refresh" content="0; url=documentation/{front}/">
<p><a href="documentation/{front}/">{title}</a></p>
</html>
"""


class Pages:
    def __init__(self, site):
        self.paths, self.pages = {}, {}
        for path in (site / "data/documentation").rglob("*.json"):
            page = json.loads(path.read_text())
            url = page["identifier"]["url"]
            self.paths[url], self.pages[url] = path, page
        self.front = next(url for url in self.pages if url.lower().endswith(f"/{FRONT}"))

    def title(self, url):
        return self.pages[url]["metadata"].get("title", url)

    def uncurated(self):
        """The faults of topics."""
        reached, todo = {self.front}, [self.front]
        while todo:
            page = self.pages[todo.pop()]
            sections = page.get("topicSections", [])
            generated = [one for section in sections if section.get("generated") for one in section["identifiers"]]
            name = page["metadata"].get("title")
            if page["metadata"].get("symbolKind") == "module":
                for one in generated:
                    yield f"{name}: {self.title(one)} is in no topic"
            elif len(generated) > MOST:
                yield f"{name}: {len(generated)} members are in no topic, as {self.title(generated[0])}"
            # A default implementation is on the page of its requirement.
            for section in sections + page.get("defaultImplementationsSections", []):
                for one in section["identifiers"]:
                    if one in self.pages and one not in reached:
                        reached.add(one)
                        todo.append(one)
        for url in sorted(set(self.pages) - reached):
            yield f"{self.title(url)}: no topic leads to {url.split('/documentation/')[-1]}"

    def missing(self, guides):
        """The guides without a page, as docc makes none of an article that is in no topic."""
        made = {path.stem for path in self.paths.values()}
        for guide in sorted(guides.glob("*.md")):
            if guide.stem.lower() not in made:
                yield f"{guide} is in no topic"

    def place_products(self):
        """Places the products, which are roots for docc, below the front page."""
        reference = next(
            page["references"][self.front] for page in self.pages.values() if self.front in page["references"])
        for url, page in self.pages.items():
            paths = page["hierarchy"]["paths"]
            if url == self.front or any(self.front in path for path in paths):
                continue
            page["hierarchy"]["paths"] = [[self.front, *path] for path in paths]
            page["references"][self.front] = reference
            self.paths[url].write_text(json.dumps(page))


def relocate(site):
    """Makes the pages find their files by relative paths."""
    for path in site.rglob("index.html"):
        root = "../" * (len(path.relative_to(site).parts) - 1)
        text = path.read_text().replace('href="/', f'href="{root}').replace('src="/', f'src="{root}')
        text = text.replace("<noscript>", search.FORM + "<noscript>", 1)
        path.write_text(
            text.replace('var baseUrl = "/"', 'var baseUrl = location.pathname.split("/documentation/")[0] + "/"'))


def main():
    site, guides = map(pathlib.Path, sys.argv[1:])
    pages = Pages(site)
    faults = sorted(pages.uncurated()) + list(pages.missing(guides))
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        return 1
    pages.place_products()
    relocate(site)
    search.write(site, pages, FRONT, pages.title(pages.front))
    # The renderer asks for it, and reports in the console if it is missing.
    (site / "theme-settings.json").write_text("{}\n")
    (site / "index.html").write_text(ENTRY.format(title=pages.title(pages.front), front=FRONT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
