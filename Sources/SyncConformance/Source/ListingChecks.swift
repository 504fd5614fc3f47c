import SyncModels
import SyncPorts

/// The contents of a full listing, page by page.
enum ListingChecks {
  static func listingHoldsEveryRecordOnce(_ bench: SourceBench) async throws {
    try await bench.fill(25)
    let pass = try await bench.pull(limit: 7)
    try expect(pass.coverage, equals: .full, "A start without a token covers everything.")
    try expect(
      pass.upserted.sorted(), equals: (0..<25).map(SourceBench.key), "A full listing holds each record once.")
    for (key, value) in pass.values {
      try expect(SourceBench.key(Int(value)), equals: key, "A record has its own fields.")
    }
  }

  static func emptyRemoteListsNothing(_ bench: SourceBench) async throws {
    let pass = try await bench.pull()
    try expect(pass.coverage, equals: .full, "A start without a token covers everything.")
    try expect(pass.changes.count, equals: 0, "A remote without records lists none.")
    _ = try bench.token(of: pass)
  }

  static func pagesObeyTheirLimit(_ bench: SourceBench) async throws {
    try await bench.fill(12)
    for limit in [1, 5, 12, 10_000] {
      let most = min(limit, bench.capabilities.maximumPageSize ?? .max)
      let pass = try await bench.pull(limit: limit)
      try expect(
        pass.pages.allSatisfy { $0.listed <= most }, "A page holds no more than the limit \(limit).")
      try expect(pass.upserted.count, equals: 12, "A full listing holds each record once, limit \(limit).")
    }
    guard let token = try bench.token(of: try await bench.pull()) else { return }
    for number in 0..<12 { try await bench.harness.upsert(SourceBench.key(number), 100 + number) }
    for limit in [1, 5] {
      let most = min(limit, bench.capabilities.maximumPageSize ?? .max)
      let pass = try await bench.pull(since: token, limit: limit, pass: 2)
      try expect(
        pass.pages.allSatisfy { $0.listed <= most },
        "A page of a delta holds no more than the limit \(limit).")
      try expect(Set(pass.upserted).count, equals: 12, "A delta has each changed record, limit \(limit).")
    }
  }

  static func keysAreListedWithTheirVersions(_ bench: SourceBench) async throws {
    try await bench.fill(5)
    let first = try await bench.pull()
    try await bench.harness.upsert("i01", 100)
    let second = try await bench.pull(since: try bench.token(of: first), pass: 2)
    let passes = [first, second].filter { $0.pages.contains { !$0.present.isEmpty } }
    if passes.isEmpty { throw Inapplicable(reason: "The source lists no record without its contents.") }
    for (page, copies) in passes.flatMap({ zip($0.pages, $0.copies) }) {
      let versions = Dictionary(copies.compactMap(\.copy).map { ($0.id, $0.version) }) { $1 }
      for present in page.present {
        try expect(
          present.version, equals: versions[present.id] ?? .unversioned,
          "A record that is listed without its contents has the version of its current copy.")
      }
    }
  }

  static func recordsAreReadWhole(_ bench: SourceBench) async throws {
    try await harnessItem(bench)
    for change in try await bench.pull().changes {
      guard case .upsert(let record) = change else { throw ConformanceFailure("A record comes as a copy.") }
      try expect(record.id, equals: SourceBench.id("é/1"), "A record has its type and its key.")
      try expect(record.version.epoch, equals: 0, "A source leaves the epoch to the engine.")
      try expect(record.fields, equals: [42], "A record has a value for each declared field.")
      let lifted = try SourceHarness.entity.fields(of: record.payload)
      try expect(lifted, equals: record.fields, "A record's fields are those of its payload.")
    }
  }

  private static func harnessItem(_ bench: SourceBench) async throws {
    try await bench.harness.upsert("é/1", 42)
  }

  static func samePositionIsAnsweredAlike(_ bench: SourceBench) async throws {
    try await bench.fill(10)
    let first = try await bench.page(.start(since: nil))
    let again = try await bench.page(.start(since: nil))
    try expect(again.changes, equals: first.changes, "A repeated start gets the same answer.")
    try expect(again.present, equals: first.present, "A repeated start gets the same answer.")
    guard case .more(let token, _) = first.next else {
      throw Inapplicable(reason: "The source lists everything on one page.")
    }
    let second = try await bench.page(.resume(token))
    let repeated = try await bench.page(.resume(token))
    try expect(
      Set(ids(first)).isDisjoint(with: ids(second)) && second.next != first.next,
      "A continuation leads on, when nothing changes meanwhile.")
    try expect(repeated.changes, equals: second.changes, "A repeated continuation gets the same answer.")
    try expect(repeated.present, equals: second.present, "A repeated continuation gets the same answer.")
  }

  private static func ids(_ page: RecordPage) -> [RecordID?] {
    page.changes.map(\.id) + page.present.map(\.id)
  }

  static func resumablePassGoesOnInAnotherProcess(_ bench: SourceBench) async throws {
    try await bench.fill(10)
    let first = try await bench.page(.start(since: nil))
    guard case .more(let token, resumable: true) = first.next, let reopen = bench.harness.reopen else {
      throw Inapplicable(reason: "The source's continuations end with the process.")
    }
    let here = try await bench.page(.resume(token))
    let there = try await reopen().page(bench.request(.resume(token)))
    try expect(
      there.changes, equals: here.changes, "A resumable continuation is understood by another process.")
    try expect(
      there.present, equals: here.present, "A resumable continuation is understood by another process.")
  }

  static func deletedRecordIsNotListed(_ bench: SourceBench) async throws {
    try await bench.fill(5)
    try await bench.harness.delete("i02")
    let pass = try await bench.pull()
    try expect(
      pass.upserted.sorted(), equals: ["i00", "i01", "i03", "i04"], "A full listing lacks deleted records.")
  }

  static func totalCountsTheListing(_ bench: SourceBench) async throws {
    try await bench.fill(11)
    let pass = try await bench.pull()
    guard let total = pass.pages[0].total else { throw Inapplicable(reason: "The source tells no totals.") }
    try expect(total, equals: 11, "A total is the number of listed changes, when nothing changes meanwhile.")
  }

  static func malformedRecordComesInItsPlace(_ bench: SourceBench) async throws {
    try await bench.fill(3)
    let bytes = bench.harness.malformedBytes
    try await bench.harness.putMalformed?(bytes)
    let pass = try await bench.pull(limit: 2)
    try expect(
      pass.upserted.sorted(), equals: ["i00", "i01", "i02"],
      "A malformed record does not prevent other records.")
    let malformed = pass.changes.compactMap {
      if case .malformed(let malformed) = $0 { malformed } else { nil }
    }
    try expect(malformed.count, equals: 1, "Bytes that are not a record come as one malformed record.")
    try expect(
      malformed.first?.type, equals: SourceHarness.entity.type, "A malformed record has the type of its page."
    )
    try expect(
      malformed.first.map { isUnchanged($0.bytes, from: bytes, bench.capabilities.serverManagedFields) }
        ?? false,
      "A malformed record has its bytes unchanged, apart from the source's server-managed fields.")
    try expect(malformed.first?.reason.isEmpty, equals: false, "A malformed record has a reason.")
  }

  /// Whether the bytes are those that were put, or an object to which the server added its fields.
  private static func isUnchanged(_ found: Payload, from put: [UInt8], _ managed: [FieldName]) -> Bool {
    if found.bytes.elementsEqual(put) { return true }
    guard let before = try? FieldMap(Payload(put)), let after = try? FieldMap(found) else { return false }
    return after.contains(before)
      && after.fields.allSatisfy { before.fields.contains($0) || managed.contains($0) }
  }

  static func malformedRecordsMayFillAPage(_ bench: SourceBench) async throws {
    try await bench.fill(1)
    for _ in 0..<5 { try await bench.harness.putMalformed?(bench.harness.malformedBytes) }
    // After the malformed records, in the order of keys as in the order of changes.
    try await bench.harness.upsert("zz", 1)
    let pass = try await bench.pull(limit: 2)
    try expect(
      Set(pass.upserted), equals: ["i00", "zz"],
      "A page of malformed records alone leads on to the records after it.")
  }

  static func lookupGivesCurrentCopies(_ bench: SourceBench) async throws {
    try await bench.fill(3)
    try await bench.harness.upsert("i01", 77)
    try await bench.harness.delete("i02")
    let ids = ["i01", "i02", "never"].map(SourceBench.id)
    let found = try await bench.source.lookup(ids, of: SourceHarness.entity)
    var values: [FieldValue] = []
    for change in found {
      switch change {
      case .upsert(let record):
        try expect(record.id.key, equals: "i01", "A lookup returns copies of existing records.")
        values += record.fields
      case .tombstone(let tombstone):
        try expect(tombstone.id.key != "i01", "A lookup returns tombstones of missing records.")
      case .malformed: throw ConformanceFailure("A lookup returns no malformed record.")
      }
    }
    try expect(values, equals: [77], "A lookup gives the current copy.")
  }

  static func lookupOfManyFindsEach(_ bench: SourceBench) async throws {
    // The engine looks up as many records as a portion or a page holds, several hundred at once.
    let count = 450
    try await bench.fill(count)
    try await bench.harness.delete("i07")
    let keys = (0..<count).map(SourceBench.key)
    let found = try await bench.lookup(keys + ["never"])
    let missing = keys.filter { found[$0] == nil && $0 != "i07" }
    try expect(
      missing, equals: [], "A lookup of many records finds each that exists: others count as deleted.")
    try expect(found.count, equals: count - 1, "A lookup returns copies of existing records.")
    for (key, value) in found {
      try expect(SourceBench.key(Int(value)), equals: key, "A lookup gives each record its own copy.")
    }
  }

  static func lookupTakesAnyKey(_ bench: SourceBench) async throws {
    let keys = ["é/1,2", "a b&c=d", "\"e\"", "%2C", "+f?#g"]
    for (number, key) in keys.enumerated() { try await bench.harness.upsert(key, number) }
    let found = try await bench.lookup(keys)
    for (number, key) in keys.enumerated() {
      try expect(found[key], equals: Int64(number), "A lookup finds a record by any key, such as \(key).")
    }
  }
}

extension RecordChange {
  /// The copy of an upsert.
  fileprivate var copy: Record? {
    if case .upsert(let record) = self { record } else { nil }
  }
}
