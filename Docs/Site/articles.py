"""Makes articles of a DocC catalogue from the guides.

    articles.py GUIDES CATALOGUE

A guide is plain Markdown, which a forge shows as it is: its links name files. Here each link to a
guide or a heading becomes DocC's, and pictures are copied. README.md, the front page of the guides,
becomes the site's. The items of its topics are links with descriptions; DocC takes the descriptions
from the pages themselves. Prints each link that leads nowhere, and then fails.
"""
import pathlib
import re
import shutil
import sys

FRONT = "README"
# A code span, in which nothing is a link; or a link or picture.
SPAN = re.compile(r"(?P<code>`[^`]*`)|(?P<bang>!?)\[(?P<text>(?:`[^`]*`|[^\]`])*)\]\((?P<target>[^)\s]+)\)")
# The page of a product in its own catalogue, or of one of its types.
PRODUCT = re.compile(r"\.\./Sources/(\w+)/\1\.docc/(\w+)\.md")
TOPICS = "\n## Topics\n"


def pieces(text):
    """The prose and the code blocks in turn, each with whether it is prose."""
    parts = re.split(r"(^ *```.*?^ *```$\n?)", text, flags=re.MULTILINE | re.DOTALL)
    return [(part, index % 2 == 0) for index, part in enumerate(parts)]


def headings(text):
    """The headings by the anchors that a forge gives them."""
    prose = "".join(piece for piece, is_prose in pieces(text) if is_prose)
    plain = [heading.replace("`", "") for heading in re.findall(r"^#{2,6} (.+)$", prose, re.MULTILINE)]
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-"): one for one in plain}


def fragment(heading):
    """The anchor that DocC gives a heading."""
    return re.sub(r"\s+", "-", re.sub(r"['\"`]", "", heading).strip())


class Guides:
    def __init__(self, folder):
        self.folder = folder
        self.texts = {path.stem: path.read_text() for path in sorted(folder.glob("*.md"))}
        self.headings = {name: headings(text) for name, text in self.texts.items()}
        self.pictures = set()
        self.faults = []

    def article(self, name):
        """A guide as DocC reads it."""
        line, parts = 1, []
        for piece, is_prose in pieces(self.texts[name]):
            parts.append(self.linked(name, piece, line) if is_prose else piece)
            line += piece.count("\n")
        article = "".join(parts)
        if name != FRONT:
            return article
        title, rest = article.split("\n", 1)
        before, topics = rest.split(TOPICS, 1)
        # Only a bare link is an item of a topic.
        topics = re.sub(r"^- (?:\[.*?\]\((<doc:.*?>)\)|(<doc:.*?>|``\w+``)).*(?:\n  .*)*$", r"- \1\2", topics, flags=re.MULTILINE)
        return f"{title}\n\n@Metadata {{\n  @TechnologyRoot\n}}\n{before}{TOPICS}{topics}"

    def linked(self, name, prose, line):
        """Prose that begins at a line, with DocC's links."""
        def replace(match):
            if match["code"]:
                return match[0]
            link = self.link(name, match["bang"], match["text"], match["target"])
            if link is None:
                place = f"{self.folder}/{name}.md:{line + prose.count(chr(10), 0, match.start())}"
                self.faults.append(f"{place}: the link leads nowhere: {match['target']}")
            return link or match[0]

        return SPAN.sub(replace, prose)

    def link(self, name, bang, text, target):
        """DocC's form of a link or picture; nothing if it leads nowhere."""
        if re.match(r"https?:", target):
            return f"{bang}[{text}]({target})"
        if bang:
            picture = self.folder / target
            self.pictures.add(picture)
            return f"![{text}]({picture.name})" if picture.is_file() else None
        if product := PRODUCT.fullmatch(target):
            symbol = product[1] if product[1] == product[2] else f"{product[1]}/{product[2]}"
            return f"``{symbol}``" if (self.folder / target).is_file() else None
        file, _, anchor = target.partition("#")
        guide = file.removesuffix(".md") or name
        if guide not in self.texts or file not in ("", f"{guide}.md"):
            return None
        heading = self.headings[guide].get(anchor)
        if anchor and not heading:
            return None
        place = f"<doc:{guide}{'#' + fragment(heading) if anchor else ''}>"
        # In place of a file's name, a reader of the site sees the guide's title.
        return place if text == target else f"[{text}]({place})"


def main():
    guides = Guides(pathlib.Path(sys.argv[1]))
    catalogue = pathlib.Path(sys.argv[2])
    for name in guides.texts:
        (catalogue / f"{name}.md").write_text(guides.article(name))
    for fault in guides.faults:
        print(fault, file=sys.stderr)
    if guides.faults:
        return 1
    for picture in guides.pictures:
        shutil.copy(picture, catalogue)
    return 0


if __name__ == "__main__":
    sys.exit(main())
