import CanonicalSync
import CanonicalSyncToolSupport
import SyncAdapters
import SyncCore

extension Inspection {
  /// Prints the last syncs, the latest first.
  ///
  /// - Parameter limit: The number of syncs to show.
  func history(limit: Int) async throws(SyncError) {
    let syncs = try await PastSync.load(from: store, limit: limit)
    guard !isJSON else {
      return output.line(
        ["syncs": .integer(syncs.count), "entries": .array(syncs.map(Self.object))] as JSON)
    }
    guard !syncs.isEmpty else {
      return output.line("The store has no history yet: no sync of this version has ended.")
    }
    let now = ContinuousClock().timestamp
    let table = TextTable(
      [
        "sync", "began", "trigger", "outcome", "seconds", "fetched", "inserted", "updated", "deleted",
        "pushed", "requests", "retries", "bytes", "error",
      ], rows: syncs.map { Self.row($0, at: now) }
    ).withoutEmptyColumns
    output.line(table.text(fitting: output.width))
    for failure in syncs.first?.failures ?? [] {
      output.line("")
      output.prose(failure)
    }
  }

  private static func row(_ sync: PastSync, at now: Timestamp) -> [TextTable.Cell] {
    func count(_ number: Int) -> TextTable.Cell { number == 0 ? .empty : .number(number) }
    let isOver = sync.outcome != .running && sync.outcome != .killed
    let error = sync.failure?.code ?? sync.typeFailures.first?.failure.code
    return [
      .number(Int(sync.number)), .text(sync.began.ago(at: now)),
      .text(sync.triggers.joined(separator: ", ")), .text(sync.outcome.rawValue),
      isOver ? .text(String((sync.seconds * 1000).rounded() / 1000)) : .empty, count(sync.total("fetched")),
      count(sync.total("inserted")), count(sync.total("updated")), count(sync.total("deleted")),
      count(sync.pushed["accepted"] ?? 0), count(sync.total("requests") + (sync.pushed["requests"] ?? 0)),
      count(sync.retries), count(sync.bytes), error.map { .text($0) } ?? .empty,
    ]
  }

  private static func object(_ sync: PastSync) -> JSON {
    func counts(_ counts: [String: Int]) -> JSON {
      .object(counts.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })
    }
    func failure(_ failure: PassOutcomes.Failure) -> JSON {
      [
        "code": .string(failure.code), "message": .string(failure.message),
        "retryAtMilliseconds": .time(failure.retryAt),
      ]
    }
    return [
      "number": .integer(Int(sync.number)), "fence": .integer(Int(sync.fence)),
      "triggers": .array(sync.triggers.map { .string($0) }), "beganMilliseconds": .time(sync.began),
      "outcome": .string(sync.outcome.rawValue), "seconds": .double(sync.seconds),
      "error": sync.failure.map(failure) ?? .null,
      "typeErrors": .object(sync.typeFailures.map { ($0.type.rawValue, failure($0.failure)) }),
      "counts": .object(
        sync.counts.sorted { $0.key < $1.key }.map { ($0.key.rawValue, counts($0.value)) }),
      "pushed": counts(sync.pushed), "bytes": .integer(sync.bytes), "retries": .integer(sync.retries),
      "fetchingSeconds": .double(sync.fetchingSeconds), "writingSeconds": .double(sync.writingSeconds),
    ]
  }
}

extension PastSync {
  /// The sync's failures as sentences.
  var failures: [String] {
    (failure.map { [$0.message] } ?? []) + typeFailures.map { "\($0.type): \($0.failure.message)" }
  }
}
