import CanonicalSync
import CanonicalSyncPages
import CanonicalSyncToolSupport

extension Inspection {
  /// Writes a page for a person who has to find out what is wrong.
  ///
  /// - Parameters:
  ///   - place: The store's path or address.
  ///   - file: The file to write; `nil` for standard output.
  ///   - showsContents: Whether the page has contents of records.
  ///   - staleAfter: The age from which data and edits are too old; `nil` to go by the usual interval.
  func report(
    of place: String, to file: PageFile?, showsContents: Bool, staleAfter: Duration?
  ) async throws(SyncError) {
    let model = try await ReportModel.gather(
      from: store, at: place, now: ContinuousClock().timestamp, showsContents: showsContents,
      staleAfter: staleAfter)
    let page = ReportPage(model: model).markup
    guard let file else { return output.write(page) }
    try file.write(page, isPrivate: showsContents)
    let verdict = model.verdict
    guard !isJSON else {
      let members: [(key: String, value: JSON)] = [
        ("report", .string(file.path)), ("bytes", .integer(page.utf8.count)),
      ]
      return output.line(JSON.object(members + verdict.members))
    }
    output.line(verdict.headline, in: verdict.ink)
    output.line("The report is in \(file.path).")
  }
}

extension ReportPage {
  /// The file of a report, which may replace an earlier one.
  static func file(at path: String) throws(SyncError) -> PageFile {
    try PageFile(
      path: path, of: "report", startingWith: WebPage.beginning(of: kind),
      hint: "name another file, or - for standard output")
  }
}
