import CanonicalSync
import CanonicalSyncPages
import CanonicalSyncToolSupport

/// A report as one HTML page, which loads nothing and runs no script.
struct ReportPage {
  /// What the page shows.
  let model: ReportModel

  /// What the page is.
  static let kind = "A report by sync-inspect."

  /// The whole page.
  var markup: String {
    let verdict = model.verdict
    var page = WebPage(
      kind: Self.kind, title: verdict.headline.shortened(to: 200),
      heading: "\(verdict.headline.shortened(to: 500))", mood: Self.mark(verdict.ink),
      summary: """
        \(freshness)<p>As of \(Self.time(model.writtenAt)) UTC, of the store <code>\(model.place.shortened(to: 300))</code>\
        \(remotes).</p>

        """,
      parts: [advice, types, syncs, speed, outbox, waiting, conflicts, quarantine],
      footer: """
        <p>Written by sync-inspect \(LibraryVersion.current), of the store with the identity \
        <code>\(model.identity.shortened(to: 100))</code>. All times are UTC. Ages are as of the time of writing. \
        \(model.showsContents ? "The page has contents of records." : Self.hidden)</p>
        """,
      sheet: ReportStyle.sheet)
    (page.skip, page.navigation) = ("Skip to what to do", "Parts of the report")
    return page.markup
  }

  private static let hidden: HTML =
    "Contents of records are left out; <code>--contents</code> includes them. Ids are shown."

  /// The addresses of the remotes.
  private var remotes: HTML {
    let shown = model.remotes.prefix(3).map { "<code>\($0.shortened(to: 300))</code>" as HTML }
    let more = model.remotes.count - shown.count
    guard !shown.isEmpty else { return "" }
    return ", synced from \(HTML(shown, separator: ", "))\(more > 0 ? " and \(more) more" as HTML : "")"
  }

  /// The age of the least fresh type.
  private var freshness: HTML {
    guard let oldest = model.types.leastFresh else { return "" }
    let name = oldest.type.rawValue.shortened(to: 200)
    guard let instant = oldest.passes.lastSuccess else {
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
}

extension ReportPage {
  typealias Part = WebPage.Part

  /// The most bytes of each list's elements. The page then has at most 2 MB.
  enum Budget {
    static let advice = 60_000
    static let types = 200_000
    static let syncs = 600_000
    static let edits = 150_000
    static let conflicts = 500_000
    static let quarantine = 250_000
    static let waiting = 100_000
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
}
