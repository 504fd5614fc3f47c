import SyncModels
import SyncPorts

/// The changes after a token, and the validity of tokens.
enum DeltaChecks {
  static func deltaHoldsWhatChanged(_ bench: SourceBench) async throws {
    try await bench.fill(10)
    try await bench.harness.settle?()
    let token = try bench.token(of: try await bench.pull())
    try await bench.harness.settle?()
    try await bench.harness.upsert("i03", 103)
    try await bench.harness.upsert("i03", 203)
    try await bench.harness.upsert("new", 11)
    let pass = try await bench.pull(since: token, pass: 2)
    try expect(pass.values["i03"], equals: 203, "A delta holds a record's latest copy.")
    try expect(pass.values["new"], equals: 11, "A delta has new records.")
    try expect(pass.deleted, equals: [], "A delta has no tombstone of an existing record.")
    guard pass.coverage == .delta else { return }
    if bench.capabilities.deltas == .changeTokens || bench.harness.settle != nil {
      try expect(Set(pass.upserted), equals: ["i03", "new"], "A delta has only changed records.")
    }
  }

  static func deltaOfNothingIsEmpty(_ bench: SourceBench) async throws {
    try await bench.fill(5)
    try await bench.harness.settle?()
    let token = try bench.token(of: try await bench.pull())
    guard let token else { throw Inapplicable(reason: "The source has no tokens.") }
    let isExact: Bool
    if case .modifiedSince = bench.capabilities.deltas {
      isExact = bench.harness.settle != nil
    } else {
      isExact = true
    }
    for pass in [2, 3] as [Int64] {
      let delta = try await bench.pull(since: token, pass: pass)
      if bench.capabilities.sweepsByItself, delta.coverage == .full {
        throw Inapplicable(reason: "The source lists everything now.")
      }
      try expect(
        delta.coverage, equals: .delta, "A known token leads to a delta.")
      if isExact { try expect(delta.changes.count, equals: 0, "When nothing changed, a delta is empty.") }
    }
  }

  static func deletionComesAsTombstone(_ bench: SourceBench) async throws {
    try await bench.fill(6)
    let token = try bench.token(of: try await bench.pull())
    try await bench.harness.delete("i01")
    try await bench.harness.delete("i04")
    try await bench.harness.upsert("i04", 9)
    let pass = try await bench.pull(since: token, pass: 2)
    if pass.coverage == .delta {
      try expect(
        pass.deleted, equals: ["i01"], "A delta has the deleted records, without those written again.")
    } else {
      try expect(!pass.upserted.contains("i01"), "A full listing lacks deleted records.")
    }
    try expect(pass.values["i04"], equals: 9, "A record that was written again is there.")
  }

  static func changesDuringAPassAreNotLost(_ bench: SourceBench) async throws {
    try await bench.fill(12)
    let harness = bench.harness
    let first = try await bench.pull(limit: 3) { page in
      switch page {
      case 1:
        try await harness.upsert("i00", 1000)
        try await harness.upsert("i11", 1011)
        try await harness.upsert("i00a", 5)
      case 2:
        try await harness.delete("i01")
        try await harness.delete("i10")
        try await harness.upsert("zz", 6)
      default: break
      }
    }
    let second = try await bench.pull(since: try bench.token(of: first), pass: 2)
    var replica = second.coverage == .full ? [:] : first.values
    replica.merge(second.values) { _, later in later }
    for key in second.deleted { replica[key] = nil }
    var wanted = Dictionary(uniqueKeysWithValues: (0..<12).map { (SourceBench.key($0), Int64($0)) })
    wanted.merge(["i00": 1000, "i11": 1011, "i00a": 5, "zz": 6]) { _, later in later }
    if bench.capabilities.sendsTombstones || second.coverage == .full {
      (wanted["i01"], wanted["i10"]) = (nil, nil)
    } else {
      for key in ["i01", "i10"] where replica[key] == nil { wanted[key] = nil }
    }
    try expect(replica, equals: wanted, "A change during a pass is in it or in the next delta.")
  }

  static func changesDuringADeltaAreNotLost(_ bench: SourceBench) async throws {
    try await bench.fill(3)
    let first = try await bench.pull()
    for number in 0..<10 { try await bench.harness.upsert(SourceBench.key(number), 100 + number) }
    let harness = bench.harness
    let second = try await bench.pull(since: try bench.token(of: first), limit: 3, pass: 2) { page in
      guard page == 2 else { return }
      try await harness.upsert("i00", 1000)
      try await harness.upsert("zz", 6)
    }
    let third = try await bench.pull(since: try bench.token(of: second), pass: 3)
    let replica = second.values.merging(third.values) { _, later in later }
    try expect(replica["i00"], equals: 1000, "A change during a delta is in it or in the next one.")
    try expect(replica["zz"], equals: 6, "A new record during a delta is in it or in the next one.")
    try expect(replica.count, equals: 11, "A delta misses nothing else either.")
  }

  static func lateCommitIsFound(_ bench: SourceBench) async throws {
    guard let begin = bench.harness.beginUpsert else {
      throw Inapplicable(reason: "The remote has no late commits.")
    }
    try await bench.fill(3)
    let commit = try await begin("late", 5)
    try await bench.harness.upsert("i01", 50)
    let token = try bench.token(of: try await bench.pull())
    commit()
    let pass = try await bench.pull(since: token, pass: 2)
    try expect(pass.values["late"], equals: 5, "A change that becomes visible late is in the next delta.")
  }

  static func tokenComesFromTheStart(_ bench: SourceBench) async throws {
    try await bench.fill(9)
    let pass = try await bench.pull()
    _ = try bench.token(of: pass)
    try expect(
      pass.pages.dropFirst().allSatisfy { $0.startToken == nil || $0.startToken == pass.pages[0].startToken },
      "The token is taken before anything is listed, on the first page.")
    try expect(
      pass.pages.allSatisfy { $0.coverage == pass.coverage }, "All pages of a pass cover the same.")
  }

  static func unknownTokenIsNoError(_ bench: SourceBench) async throws {
    try await bench.fill(3)
    let page = try await bench.page(.start(since: SyncToken("no token of ours")))
    try expect(
      isReset(page) || page.coverage == .full,
      "An unknown token leads to a reset or a full listing.")
    let resumed = try await bench.page(.resume(PageToken("no token of ours")))
    try expect(isReset(resumed), "An unknown continuation leads to a reset.")
    try expect(try await bench.pull().upserted.count, equals: 3, "A full listing follows.")
  }

  static func voidTokenIsNoError(_ bench: SourceBench) async throws {
    try await bench.fill(9)
    let first = try await bench.page(.start(since: nil))
    let token = try bench.token(of: try await bench.pull())
    try await bench.harness.voidTokens?()
    if let token {
      let page = try await bench.page(.start(since: token), pass: 2)
      try expect(
        isReset(page) || page.coverage == .full, "A void token leads to a reset or a full listing.")
    }
    if case .more(let next, _) = first.next {
      try expect(isReset(try await bench.page(.resume(next))), "A void continuation leads to a reset.")
    }
    let pass = try await bench.pull(since: token, pass: 3)
    try expect(pass.upserted.count, equals: 9, "After a reset, everything is listed.")
  }

  static func deletionsHaveRisingVersions(_ bench: SourceBench) async throws {
    try await bench.harness.upsert("i", 1)
    let listing = try await bench.pull()
    let listed = try version(in: listing, isDeletion: false)
    try await bench.harness.delete("i")
    let deletion = try await bench.pull(since: try bench.token(of: listing), pass: 2)
    guard deletion.coverage == .delta else {
      throw Inapplicable(reason: "The source lists everything after a deletion.")
    }
    let deleted = try version(in: deletion, isDeletion: true)
    try expect(
      deleted >= listed,
      "A tombstone's version is no less than the record's, because an older one has no effect.")
    try await bench.harness.upsert("i", 2)
    let creation = try await bench.pull(since: try bench.token(of: deletion), pass: 3)
    let created = try version(in: creation, isDeletion: false)
    try expect(
      created > listed && created > deleted,
      "A record that is created again has a greater version than before, and than its tombstone.")
  }

  /// The version of the last copy or tombstone of a pass over one record.
  private static func version(in pass: SourceBench.Pass, isDeletion: Bool) throws -> Version {
    switch pass.changes.last {
    case .upsert(let record)? where !isDeletion: return record.version
    case .tombstone(let tombstone)? where isDeletion: return tombstone.version
    default:
      throw ConformanceFailure(
        isDeletion ? "A deletion comes as a tombstone." : "A record that was written comes as a copy.")
    }
  }

  private static func isReset(_ page: RecordPage) -> Bool {
    if case .reset = page.next { true } else { false }
  }

  static func versionsRise(_ bench: SourceBench) async throws {
    var last: Version?
    for value in 1...4 {
      try await bench.harness.upsert("i", value)
      let pass = try await bench.pull(pass: Int64(value))
      guard case .upsert(let record)? = pass.changes.first else {
        throw ConformanceFailure("A record comes as a copy.")
      }
      if let last {
        try expect(
          record.version > last, "Each change of a record has a greater version than the one before.")
      }
      last = record.version
    }
  }

  static func identityStays(_ bench: SourceBench) async throws {
    let (identity, capabilities) = (bench.source.identity, bench.capabilities)
    let type = SourceHarness.entity.type
    let query = bench.source.query(for: type)
    try expect(!identity.isEmpty, "A source has an identity.")
    try await bench.fill(3)
    _ = try await bench.pull()
    let other = try await bench.harness.reopen?() ?? bench.source
    for source in [bench.source, other] {
      try expect(source.identity, equals: identity, "A source's identity does not change with the data.")
      try expect(
        source.capabilities(of: type), equals: capabilities, "A source's capabilities do not change.")
      try expect(
        source.query(for: type), equals: query, "A source without filters answers with the same text.")
    }
  }
}
