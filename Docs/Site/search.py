"""The search of the site: an index of every guide's text and of every symbol, and a page that searches it.

The index is a list of entries, each a title, the kind of page, its address below the site, and its text.
A guide has an entry for each of its parts, so that a result leads to the right heading.
"""
import json

# What the pages of docc, which know the root of the site as `baseUrl`, have above all else.
FORM = """<style>
#site-search { display: flex; gap: .5rem; justify-content: flex-end; padding: .375rem 1rem; font: 14px/1.5 system-ui, sans-serif;
  background: #f5f5f7; color: #1d1d1f; }
#site-search input { font: inherit; width: 16rem; max-width: 60vw; padding: 0 .5rem; border: 1px solid #6e6e73;
  border-radius: .25rem; background: #fff; color: #1d1d1f; }
@media (prefers-color-scheme: dark) { #site-search { background: #1d1d1f; color: #f5f5f7; }
  #site-search input { background: #000; color: #f5f5f7; } }
@media print { #site-search { display: none; } }
</style><form id="site-search" role="search" onsubmit="location.href = baseUrl + 'search/?q=' + \
encodeURIComponent(this.q.value); return false"><label>Search <input type="search" name="q" required \
placeholder="guides and symbols"></label></form>"""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="../favicon.ico">
<title>Search</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
input { font: inherit; width: 100%; box-sizing: border-box; padding: .375rem .5rem; }
ol { list-style: none; padding: 0; }
li { margin: 1rem 0; }
small { opacity: .8; }
p { margin: 0; }
</style>
</head>
<body>
<nav><a href="../documentation/FRONT/">TITLE</a></nav>
<main>
<h1>Search</h1>
<form role="search"><label>Words that a guide or a symbol has <input type="search" name="q" autofocus></label></form>
<p role="status"></p>
<ol></ol>
</main>
<script>
const MOST = 50;
const status = document.querySelector('[role=status]');
const list = document.querySelector('ol');
const input = document.querySelector('input');
input.value = new URLSearchParams(location.search).get('q') || '';

// A word in a title counts more than one in a text, and a title that is the word the most.
function score([title, kind, , text], words) {
  const [name, all] = [title.toLowerCase(), text.toLowerCase()];
  const last = name.split('.').pop().split('(')[0];
  let sum = 0;
  for (const word of words) {
    if (name === word || last === word) sum += 100;
    else if (name.startsWith(word) || last.startsWith(word)) sum += 30;
    else if (name.includes(word)) sum += kind === 'Article' ? 25 : 10;
    else if (all.includes(word)) sum += 1;
    else return 0;
  }
  return sum - name.length / 1000;
}

// The text around the first word.
function excerpt(text, words) {
  const places = words.map(word => text.toLowerCase().indexOf(word)).filter(place => place >= 0);
  const start = places.length ? Math.max(0, Math.min(...places) - 80) : 0;
  return (start > 0 ? '…' : '') + text.slice(start, start + 240) + (text.length > start + 240 ? '…' : '');
}

function show(entries) {
  const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const found = words.length ? entries.map(entry => [score(entry, words), entry]).filter(one => one[0] > 0) : [];
  found.sort((a, b) => b[0] - a[0]);
  status.textContent = words.length ? `${found.length} found` + (found.length > MOST ? `, the first ${MOST}:` : '') : '';
  list.replaceChildren(...found.slice(0, MOST).map(([, [title, kind, path, text]]) => {
    const [item, link, note, words_] = ['li', 'a', 'small', 'p'].map(name => document.createElement(name));
    link.href = '../' + path;
    link.textContent = title;
    note.textContent = ' ' + kind;
    words_.textContent = excerpt(text, words);
    item.append(link, note, words_);
    return item;
  }));
}

fetch('index.json').then(answer => answer.json()).then(entries => {
  show(entries);
  input.addEventListener('input', () => show(entries));
}, () => { status.textContent = 'The index of the search cannot be loaded.'; });
document.querySelector('form').addEventListener('submit', event => event.preventDefault());
</script>
</body>
</html>
"""


def words(content, references):
    """The text of a piece of docc's content."""
    if isinstance(content, list):
        return " ".join(filter(None, (words(one, references) for one in content)))
    if not isinstance(content, dict):
        return ""
    if content.get("type") == "reference":
        return content.get("overridingTitle") or references.get(content["identifier"], {}).get("title", "")
    own = [content["text"]] if isinstance(content.get("text"), str) else []
    code = content.get("code", [])
    own += [code] if isinstance(code, str) else code
    keys = ("inlineContent", "content", "items", "rows", "header", "term", "definition", "tabs", "columns")
    return " ".join(filter(None, own + [words(content[key], references) for key in keys if key in content]))


def joined(texts):
    """The texts as one, with single spaces."""
    return " ".join(" ".join(texts).split())


def entries(page, path):
    """The entries of a page, whose address is known."""
    references = page.get("references", {})
    metadata = page["metadata"]
    title, kind = metadata.get("title", ""), metadata.get("roleHeading", "")
    abstract = words(page.get("abstract", []), references)
    content = [
        one for section in page.get("primaryContentSections", []) if section["kind"] == "content"
        for one in section["content"]]
    if metadata.get("role") == "symbol" and metadata.get("symbolKind") != "module":
        # The names of the types that it is in, and the module.
        names = page["identifier"]["url"].split("/documentation/")[-1].split("/")
        if "." not in title.split("(")[0]:
            title = ".".join(names[1:-1] + [title])
        kind = f"{kind} · {names[0]}"
        text = [words(one, references) for one in content if one.get("type") != "heading"]
        yield [title, kind, path, joined([abstract, *text])]
        return
    part, text, anchor = title, [abstract], ""
    for one in content:
        if one.get("type") == "heading" and one.get("level", 9) <= 2 and one.get("anchor") != "Overview":
            yield [part, kind, path + anchor, joined(text)]
            part, text, anchor = f"{title}: {one['text']}", [], "#" + one["anchor"]
        else:
            text.append(one["text"] if one.get("type") == "heading" else words(one, references))
    yield [part, kind, path + anchor, joined(text)]


def write(site, pages, front, title):
    """Writes the index and the page that searches it."""
    found = []
    for url, path in pages.paths.items():
        address = path.relative_to(site / "data").with_suffix("")
        found += entries(pages.pages[url], f"{address}/")
    folder = site / "search"
    folder.mkdir()
    found.sort(key=lambda entry: entry[2])
    (folder / "index.json").write_text(json.dumps(found, ensure_ascii=False, separators=(",", ":")))
    (folder / "index.html").write_text(PAGE.replace("FRONT", front).replace("TITLE", title))
