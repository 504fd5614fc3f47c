import CanonicalSync
import CanonicalSyncToolSupport
import SyncAdapters
import SyncCore

extension Inspection {
  /// Prints the status of each type: one row a type, and below it the failures.
  ///
  /// - Parameter staleAfter: The age from which data and edits are too old; `nil` to go by the usual
  ///   interval between syncs.
  func status(staleAfter: Duration?) async throws(SyncError) {
    let now = ContinuousClock().timestamp
    let place = try await store.placeMovedTo()
    let (identity, tokens, evidence) = try await store.read { (snapshot) throws(SyncError) in
      let entities = try snapshot.registeredEntities()
      var tokens: [RecordType: SyncToken] = [:]
      for entity in entities { tokens[entity.type] = try snapshot.checkpoint(for: entity.type)?.committed }
      let evidence = StoreVerdict.Evidence(
        types: try TypeStatus.load(entities, in: snapshot, at: now),
        syncs: try PastSync.load(limit: 21, in: snapshot), movedTo: place, staleAfter: staleAfter, now: now)
      return (try snapshot.storeIdentity(), tokens, evidence)
    }
    let (reports, verdict) = (evidence.types, StoreVerdict(evidence))
    guard !isJSON else {
      let types = reports.map { (key: $0.type.rawValue, value: Self.object($0, tokens[$0.type])) }
      let members: [(key: String, value: JSON)] = [
        ("store", .string(identity)), ("movedTo", .text(place)),
        ("usualIntervalSeconds", .seconds(evidence.usualInterval)),
      ]
      return output.line(JSON.object(members + verdict.members + [("types", .object(types))]))
    }
    output.line(verdict.sentence, in: verdict.ink)
    for advice in verdict.advice {
      output.line("  " + Command.wrapped(advice, indent: 2, width: output.width ?? .max))
    }
    guard !reports.isEmpty else { return }
    let table = Self.table(reports, tokens, at: now).withoutEmptyColumns
    output.line("")
    output.line(table.text(fitting: output.width))
    output.line("")
    output.line("store \(identity)")
  }

  private static let kinds: [WithheldChange.Kind] = [
    .parked, .held, .incompatible, .quarantined, .staged, .missing, .hidden,
  ]

  private static func table(
    _ reports: [TypeStatus], _ tokens: [RecordType: SyncToken], at now: Timestamp
  ) -> TextTable {
    let headings =
      ["type", "live", "up to date", "last attempt", "failures", "last error", "next attempt"]
      + kinds.map(\.word) + [
        "edits", "refused", "pass", "sweep", "token",
      ]
    func count(_ number: Int) -> TextTable.Cell { number == 0 ? .empty : .number(number) }
    func text(_ text: String?) -> TextTable.Cell { text.map { .text($0) } ?? .empty }
    let rows = reports.map { report -> [TextTable.Cell] in
      let status = report.passes
      // The attempt after the last success is of interest, or one without any success.
      let attempt = status.lastAttempt.flatMap { $0 > status.lastSuccess ?? .distantPast ? $0 : nil }
      return [
        .text(report.type.rawValue), .number(report.live),
        .text(status.lastSuccess?.ago(at: now) ?? "never"), text(attempt?.ago(at: now)),
        count(status.consecutiveFailures), text(status.lastError?.code),
        text(report.nextRetry?.ago(at: now)),
      ] + kinds.map { count(report.withheld[$0] ?? 0) } + [
        count(report.pending), count(report.refused), text(report.inFlight.map(progress)),
        text(report.sweep.map { $0.refusal == nil ? "due" : "refused" }),
        text(tokens[report.type].map(shortened)),
      ]
    }
    return TextTable(headings, rows: rows)
  }

  private static func shortened(_ token: SyncToken) -> String {
    token.rawValue.count > 16 ? "\(token.rawValue.prefix(15))…" : token.rawValue
  }

  private static func progress(_ pass: Checkpoint.Pass) -> String {
    "#\(pass.number), \(pass.fetched)" + (pass.total.map { " of \($0)" } ?? "")
  }

  /// The number of edits for each reason to wait.
  private static func waits(_ report: TypeStatus) -> JSON {
    .object(PendingEdit.Kind.allCases.map { ($0.rawValue, .integer(report.waiting[$0] ?? 0)) })
  }

  private static func object(_ report: TypeStatus, _ token: SyncToken?) -> JSON {
    let error: JSON =
      report.passes.lastError.map {
        ["code": .string($0.code), "message": .string($0.message), "retryAtMilliseconds": .time($0.retryAt)]
      } ?? .null
    let pass: JSON =
      report.inFlight.map {
        [
          "number": .integer(Int($0.number)), "coverage": .string($0.coverage.rawValue),
          "fetched": .integer($0.fetched), "total": $0.total.map { .integer($0) } ?? .null,
        ]
      } ?? .null
    let members: [(key: String, value: JSON)] = [
      ("live", .integer(report.live)), ("token", .text(token?.rawValue)),
      ("tokenAgeSeconds", .seconds(report.tokenAge)),
      ("lastSuccessMilliseconds", .time(report.passes.lastSuccess)),
      ("lastAttemptMilliseconds", .time(report.passes.lastAttempt)),
      ("lastError", error), ("consecutiveFailures", .integer(report.passes.consecutiveFailures)),
      ("successes", .integer(report.passes.successes)), ("failures", .integer(report.passes.failures)),
      ("successRate", report.passes.successRate.map { .double($0) } ?? .null),
      ("dataAgeSeconds", .seconds(report.dataAge)), ("outboxAgeSeconds", .seconds(report.outboxAge)),
    ]
    let counts = kinds.map { (key: $0.rawValue, value: JSON.integer(report.withheld[$0] ?? 0)) }
    return .object(
      members + counts + [
        ("pending", .integer(report.pending)), ("refused", .integer(report.refused)),
        ("waiting", waits(report)), ("pass", pass),
        ("sweepPending", .bool(report.sweep != nil)),
      ])
  }
}
