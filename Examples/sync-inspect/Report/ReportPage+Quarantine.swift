import CanonicalSync
import CanonicalSyncPages
import SyncAdapters

extension ReportPage {
  /// The malformed records, with the reason.
  var quarantine: Part {
    Part(anchor: "quarantine", title: "Quarantine", content: quarantineContent)
  }

  /// The most bytes shown of one record.
  private static let shownBytes = 500

  private var quarantineContent: HTML {
    guard !model.quarantine.isEmpty else { return "<p>Nothing is quarantined.</p>\n" }
    let (items, excerpt) = model.quarantine.markup(within: Budget.quarantine, item)
    let note: HTML =
      model.showsContents ? "" : "<p>Bytes are left out; <code>--contents</code> includes them.</p>\n"
    return note + "<ul>\n\(items)</ul>\n"
      + excerpt.remainder("<code>sync-inspect quarantine</code> lists all")
  }

  private func item(_ entry: WithheldChange) -> HTML {
    let bytes = entry.change.bytes
    let place: HTML = entry.location.map { ", \($0.shortened(to: 200))" } ?? ""
    let size = Counted(bytes.count, "byte")
    return """
      <li><b>\(entry.name.shortened(to: 200))</b>\(place): \(entry.reason.shortened(to: 300)). \
      \(size) since \(timeAndAge(entry.since)).\(content(bytes))</li>

      """
  }

  private func content(_ bytes: ArraySlice<UInt8>) -> HTML {
    guard model.showsContents else { return "" }
    let end = bytes.count > Self.shownBytes ? "…" : ""
    return "\n<pre>\(String(decoding: bytes.prefix(Self.shownBytes), as: UTF8.self))\(end)</pre>"
  }
}
