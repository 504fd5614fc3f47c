import CanonicalSync
import ToolSupport

extension Inspection {
  /// Prints the status of each type: one row a type, and below it the failures.
  func status() async throws(SyncError) {
    let entities = try await entities()
    let now = ContinuousClock().timestamp
    let reports = try await TypeReport.load(entities, from: store, at: now)
    let (identity, tokens) = try await store.read { (snapshot) throws(SyncError) in
      var tokens: [RecordType: SyncToken] = [:]
      for entity in entities { tokens[entity.type] = try snapshot.checkpoint(for: entity.type)?.committed }
      return (try snapshot.storeIdentity(), tokens)
    }
    guard !isJSON else {
      let types = reports.map { (key: $0.type.rawValue, value: Self.object($0, tokens[$0.type])) }
      return output.line(JSON.object([("store", .string(identity)), ("types", .object(types))]))
    }
    guard !reports.isEmpty else { return output.line("The store has no types yet.") }
    output.line("store \(identity)\n")
    output.line(Self.table(reports, tokens).description)
    for report in reports {
      if let error = report.status.lastError {
        let retry = error.retryAt.map { "; not tried again before \($0.spelled)" } ?? ""
        output.line("\n\(report.type): \(error.message)\(retry)")
      }
      if let sweep = report.sweep { output.line("\n\(report.type): \(Self.sentence(sweep))") }
    }
  }

  private static let kinds: [WithheldChange.Kind] = [
    .parked, .held, .incompatible, .quarantined, .staged, .missing, .hidden,
  ]

  private static func table(_ reports: [TypeReport], _ tokens: [RecordType: SyncToken]) -> TextTable {
    let headings =
      ["type", "live", "token", "age", "last success", "last attempt", "last error", "failures"]
      + kinds.map(\.rawValue) + ["edits", "refused", "pass", "sweep"]
    let rows = reports.map { report -> [TextTable.Cell] in
      [
        .text(report.type.rawValue), .number(report.live), .text(tokens[report.type].map(shortened) ?? "-"),
        .text(report.tokenAge?.spelled ?? "-"), .text(report.status.lastSuccess?.spelled ?? "never"),
        .text(report.status.lastAttempt?.spelled ?? "never"), .text(report.status.lastError?.code ?? "-"),
        .number(report.status.consecutiveFailures),
      ] + kinds.map { .number(report.withheld[$0] ?? 0) } + [
        .number(report.pending), .number(report.refused), .text(report.inFlight.map(progress) ?? "-"),
        .text(report.sweep.map { $0.refusal == nil ? "due" : "refused" } ?? "-"),
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

  private static func sentence(_ sweep: Checkpoint.Sweep) -> String {
    switch sweep.refusal {
    case nil: "what the listing of pass \(sweep.pass) lacked has yet to be removed."
    case .massDeletion(let missing, let live)?:
      "the listing of pass \(sweep.pass) lacked \(missing) of \(Counted(live, "record")); removing that many needs permission."
    case .unidentifiedMalformed(let count)?:
      "\(Counted(count, "entry", "entries")) of the listing of pass \(sweep.pass) could not be read; nothing is removed until it is known which \(Counted(count, "record it is", "records they are").words)."
    }
  }

  /// The number of edits for each reason to wait.
  private static func waits(_ report: TypeReport) -> JSON {
    .object(PendingEdit.Kind.allCases.map { ($0.rawValue, .integer(report.waiting[$0] ?? 0)) })
  }

  private static func object(_ report: TypeReport, _ token: SyncToken?) -> JSON {
    let error: JSON =
      report.status.lastError.map {
        ["code": .string($0.code), "message": .string($0.message), "retryAt": .time($0.retryAt)]
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
      ("tokenAgeSeconds", report.tokenAge.map { .integer(Int($0.components.seconds)) } ?? .null),
      ("lastSuccess", .time(report.status.lastSuccess)), ("lastAttempt", .time(report.status.lastAttempt)),
      ("lastError", error), ("consecutiveFailures", .integer(report.status.consecutiveFailures)),
      ("successes", .integer(report.status.successes)), ("failures", .integer(report.status.failures)),
      ("successRate", report.status.successRate.map { .double($0) } ?? .null),
      ("dataAgeSeconds", report.dataAge.map { .integer(Int($0.components.seconds)) } ?? .null),
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
