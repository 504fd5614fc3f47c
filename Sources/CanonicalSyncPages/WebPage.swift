/// A page in one file, which loads nothing and runs no script.
package struct WebPage {
  /// What the page is, in a comment by which its file is known again.
  package let kind: String
  /// The title of the window.
  package var title: String
  /// The heading of the page.
  package var heading: HTML
  /// The mood of the heading: `good`, `warning` or `bad`.
  package var mood: String
  /// What follows the heading.
  package var summary: HTML
  /// The link that skips the navigation, and the navigation's name.
  package var skip = "Skip to the content"
  package var navigation = "Parts of the page"
  /// The parts, each of which the navigation has.
  package var parts: [Part]
  /// The last words.
  package var footer: HTML
  /// The style besides ``PageStyle``.
  package var sheet: HTML

  /// Creates a page.
  package init(
    kind: String, title: String, heading: HTML, mood: String, summary: HTML, parts: [Part], footer: HTML,
    sheet: HTML
  ) {
    (self.kind, self.title, self.heading, self.mood) = (kind, title, heading, mood)
    (self.summary, self.parts, self.footer, self.sheet) = (summary, parts, footer, sheet)
  }

  /// A part of a page under a heading of its own.
  package struct Part {
    /// The name for links.
    package let anchor: String
    /// The heading.
    package let title: String
    /// What follows the heading.
    package let content: HTML

    /// Creates a part.
    package init(anchor: String, title: String, content: HTML) {
      (self.anchor, self.title, self.content) = (anchor, title, content)
    }

    /// The part as a section.
    var markup: HTML {
      """
      <section aria-labelledby="\(anchor)">
      <h2 id="\(anchor)">\(title)</h2>
      \(content)</section>

      """
    }
  }

  /// The beginning of each page of a kind, by which a file is recognized.
  package static func beginning(of kind: String) -> String { "<!DOCTYPE html>\n<!-- \(kind) -->\n" }

  /// The whole page.
  package var markup: String {
    let page: HTML = """
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta name="robots" content="noindex">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
      <link rel="icon" href="data:,">
      <title>\(title)</title>
      <style>
      \(PageStyle.sheet)\(sheet)</style>
      </head>
      <body>
      <a class="skip" href="#main">\(skip)</a>
      <header class="\(mood)">
      <h1>\(heading)</h1>
      \(summary)</header>
      <nav aria-label="\(navigation)"><ul>
      \(parts.map { part -> HTML in "<li><a href=\"#\(part.anchor)\">\(part.title)</a></li>\n" })</ul></nav>
      <main id="main" tabindex="-1">
      \(parts.map(\.markup))</main>
      <footer>\(footer)</footer>
      </body>
      </html>

      """
    return Self.beginning(of: kind) + page.markup
  }
}
