import CanonicalSync
import CanonicalSyncToolSupport

/// A report as one HTML page, which loads nothing and runs no script.
struct ReportPage {
  /// What the page shows.
  let model: ReportModel

  /// The beginning of each page, by which a file is known to be a report.
  static let beginning = "<!DOCTYPE html>\n<!-- A report by sync-inspect. -->\n"

  /// The whole page.
  var markup: String {
    let verdict = model.verdict
    let page: HTML = """
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta name="robots" content="noindex">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
      <link rel="icon" href="data:,">
      <title>\(verdict.headline.shortened(to: 200))</title>
      <style>
      \(ReportStyle.sheet)</style>
      </head>
      <body>
      <a class="skip" href="#main">Skip to what to do</a>
      <header class="\(Self.mark(verdict.ink))">
      <h1>\(verdict.headline.shortened(to: 500))</h1>
      \(freshness)<p>As of \(Self.time(model.writtenAt)) UTC, of the store <code>\(model.place.shortened(to: 300))</code>.</p>
      </header>
      <nav aria-label="Parts of the report"><ul>
      \(parts.map { part -> HTML in "<li><a href=\"#\(part.anchor)\">\(part.title)</a></li>\n" })</ul></nav>
      <main id="main" tabindex="-1">
      \(parts.map(\.markup))</main>
      <footer><p>Written by sync-inspect \(LibraryVersion.current), of the store with the identity \
      <code>\(model.identity.shortened(to: 100))</code>. All times are UTC. Ages are as of the time of writing. \
      \(model.showsContents ? "The page has contents of records." : Self.hidden)</p></footer>
      </body>
      </html>

      """
    return Self.beginning + page.markup
  }

  private static let hidden: HTML =
    "Contents of records are left out; <code>--contents</code> includes them. Ids are shown."

  /// The age of the least fresh type.
  private var freshness: HTML {
    guard let oldest = model.types.leastFresh else { return "" }
    let name = oldest.type.rawValue.shortened(to: 200)
    guard let instant = oldest.status.lastSuccess else {
      return "<p>\(name) has never been up to date.</p>\n"
    }
    return "<p>The least fresh type is \(name): up to date \(instant.ago(at: model.writtenAt)).</p>\n"
  }

  private static func mark(_ ink: Ink) -> String {
    switch ink {
    case .good: "good"
    case .warning: "warning"
    case .bad: "bad"
    }
  }

  private var parts: [Part] { [advice, types, syncs, speed, outbox, conflicts, quarantine] }
}

extension ReportPage {
  /// A part of the page under a heading of its own.
  struct Part {
    /// The name for links.
    let anchor: String
    /// The heading.
    let title: String
    /// What follows the heading.
    let content: HTML

    /// The part as a section.
    var markup: HTML {
      """
      <section aria-labelledby="\(anchor)">
      <h2 id="\(anchor)">\(title)</h2>
      \(content)</section>

      """
    }
  }

  /// The most bytes of each list's elements. The page then has at most 2 MB.
  enum Budget {
    static let advice = 60_000
    static let types = 200_000
    static let syncs = 600_000
    static let edits = 150_000
    static let conflicts = 500_000
    static let quarantine = 250_000
  }

  /// A number in a table, which leaves out zeros.
  static func count(_ number: Int) -> HTML? { number == 0 ? nil : "\(number)" }

  /// An instant for a person: date and time in UTC, to the second.
  static func time(_ instant: Timestamp) -> HTML {
    let text = instant.spelled
    let plain = text.hasSuffix("Z") ? String(text.dropLast()).replacing("T", with: " ") : text
    return "<time datetime=\"\(text)\">\(plain)</time>"
  }

  /// An instant with its distance from the time of writing.
  func timeAndAge(_ instant: Timestamp) -> HTML {
    "\(Self.time(instant)) (\(instant.ago(at: model.writtenAt)))"
  }

  /// A sentence in which words between backticks are code.
  static func prose(_ text: String) -> HTML {
    let spans = text.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
    // A backtick without its partner is one in a message of the remote.
    guard spans.count % 2 == 1 else { return "\(text)" }
    return HTML(
      spans.enumerated().map { index, span in index % 2 == 1 ? "<code>\(span)</code>" : "\(span)" })
  }

  /// A part of a list that is shown on demand.
  static func details(_ summary: HTML, isOpen: Bool = false, _ content: HTML) -> HTML {
    """
    <details\(isOpen ? " open" : "" as HTML)><summary>\(summary)</summary>
    \(content)</details>

    """
  }
}

extension String {
  /// The beginning of a text from outside.
  ///
  /// Scalars are counted, because a character may have any number of them.
  func shortened(to limit: Int) -> String {
    guard let end = unicodeScalars.index(startIndex, offsetBy: limit, limitedBy: unicodeScalars.endIndex),
      end < unicodeScalars.endIndex
    else { return self }
    return String(unicodeScalars[..<end]) + "…"
  }
}
