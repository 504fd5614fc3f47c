import CanonicalSync
import SyncAdapters
import Synchronization

/// A source with a given listing, which may repeat ids.
final class ListedPages: RemoteRecordSource {
  let identity = "listed"
  let capabilities: SourceCapabilities
  private let records: [(key: String, payload: String)]
  private let versions: [Int64]
  private let pageSize: Int

  init(
    pageSize: Int, versions: [Int64] = [], order: SourceCapabilities.VersionOrder = .perChange,
    listing: SourceCapabilities.Listing = .snapshot, _ records: [(String, String)]
  ) {
    self.pageSize = pageSize
    self.versions = versions
    self.records = records.map { ($0.0, $0.1) }
    capabilities = SourceCapabilities(
      deltas: .changeTokens, sendsTombstones: true, listing: listing, versions: order)
  }

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    var start = 0
    if case .resume(let token) = request.position { start = Int(token.rawValue) ?? 0 }
    let end = min(start + pageSize, records.count)
    let changes = (start..<end).map { index -> RecordChange in
      let (key, payload) = records[index]
      let sequence = index < versions.count ? versions[index] : 1
      return .upsert(
        Record(
          id: RecordID(type: request.entity.type, key: key),
          version: Version(sequence: sequence, modifiedAt: Timestamp(microseconds: 0)),
          payload: Payload(Array(payload.utf8)), fields: []))
    }
    return RecordPage(
      coverage: .full, changes: changes, startToken: start == 0 ? SyncToken("t") : nil,
      next: end < records.count ? .more(PageToken("\(end)"), resumable: true) : .done(nil))
  }
}
