import SyncModels
import SyncPorts

/// A source with its test data, and short forms for the checks.
struct SourceBench: Sendable {
  let harness: SourceHarness

  var source: any RemoteRecordSource { harness.source }
  var capabilities: SourceCapabilities { harness.capabilities }

  /// All pages of one pass.
  struct Pass: Sendable {
    var coverage: RecordPage.Coverage
    var pages: [RecordPage]
    /// For each page, the copies of the records that it lists without their contents.
    var copies: [[RecordChange]]
    /// The start of the next delta.
    var token: SyncToken?

    /// The changes of all pages, with the copies that were looked up.
    var changes: [RecordChange] { zip(pages, copies).flatMap { $0.changes + $1 } }

    /// The listed values by key. The last listing of a key counts, also a deletion.
    var values: [String: Int64] {
      var values: [String: Int64] = [:]
      for change in changes {
        if case .tombstone(let tombstone) = change { values[tombstone.id.key] = nil }
        guard case .upsert(let record) = change, case .integer(let value)? = record.fields.first else {
          continue
        }
        values[record.id.key] = value
      }
      return values
    }

    /// The keys of the listed copies and tombstones.
    var upserted: [String] {
      changes.compactMap { if case .upsert(let record) = $0 { record.id.key } else { nil } }
    }
    var deleted: [String] {
      changes.compactMap { if case .tombstone(let tombstone) = $0 { tombstone.id.key } else { nil } }
    }
  }

  func request(_ position: PullPosition, limit: Int = 4, pass: Int64 = 1) -> PageRequest {
    PageRequest(entity: SourceHarness.entity, position: position, limit: limit, pass: pass)
  }

  func page(_ position: PullPosition, limit: Int = 4, pass: Int64 = 1) async throws(SyncError) -> RecordPage {
    try await source.page(request(position, limit: limit, pass: pass))
  }

  /// Pulls one pass to its end. After a reset it starts over with a full listing.
  ///
  /// Records that are listed without their contents are looked up. The engine does the same.
  ///
  /// - Parameter between: Called after each page but the last, with the page's number from 1.
  func pull(
    since token: SyncToken? = nil, limit: Int = 4, pass: Int64 = 1,
    between: @Sendable (Int) async throws -> Void = { _ in }
  ) async throws -> Pass {
    var position = PullPosition.start(since: token)
    var (pages, copies): ([RecordPage], [[RecordChange]]) = ([], [])
    for _ in 0..<1000 {
      let page = try await page(position, limit: limit, pass: pass)
      pages.append(page)
      copies.append(try await contents(of: page))
      switch page.next {
      case .more(let next, _):
        try await between(pages.count)
        position = .resume(next)
      case .done(let own):
        return Pass(
          coverage: pages[0].coverage, pages: pages, copies: copies, token: own ?? pages[0].startToken)
      case .reset(let reason):
        (pages, copies) = ([], [])
        position = .start(since: reason == .pageTokenExpired ? token : nil)
      }
    }
    throw ConformanceFailure("A pass over few records ends.")
  }

  /// The copies of the records that a page lists without their contents.
  private func contents(of page: RecordPage) async throws -> [RecordChange] {
    guard !page.present.isEmpty else { return [] }
    try expect(
      capabilities.supportsLookup, "Only a source that has lookups lists records without their contents.")
    try expect(page.coverage, equals: .full, "A delta has the contents of its records.")
    return try await source.lookup(page.present.map(\.id), of: SourceHarness.entity)
  }

  /// The values that a lookup finds, by key.
  func lookup(_ keys: [String]) async throws -> [String: Int64] {
    var values: [String: Int64] = [:]
    for change in try await source.lookup(keys.map(Self.id), of: SourceHarness.entity) {
      guard case .upsert(let record) = change, case .integer(let value)? = record.fields.first else {
        continue
      }
      values[record.id.key] = value
    }
    return values
  }

  /// Writes items `i00`, `i01`… with their numbers as values.
  func fill(_ count: Int) async throws {
    for number in 0..<count { try await harness.upsert(Self.key(number), number) }
  }

  static func key(_ number: Int) -> String {
    number < 10 ? "i0\(number)" : "i\(number)"
  }

  static func id(_ key: String) -> RecordID {
    RecordID(type: SourceHarness.entity.type, key: key)
  }

  /// The token of a pass. Only sources without deltas may omit it.
  func token(of pass: Pass) throws(ConformanceFailure) -> SyncToken? {
    if capabilities.deltas != .fullOnly {
      try expect(
        pass.token != nil, "A pass of a source that has deltas ends with a token, or begins with one.")
    }
    return pass.token
  }
}
