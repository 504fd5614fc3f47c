import CanonicalSync
import CanonicalSyncToolSupport
import SyncJSON

extension Inspection {
  /// Prints merge conflicts with both versions and the resolution, the newest first.
  ///
  /// - Parameters:
  ///   - typeName: The type to show; `nil` for all.
  ///   - limit: The number of conflicts to show.
  ///   - isFull: Whether records are shown completely, or only their beginnings.
  func conflicts(_ typeName: String?, limit: Int, isFull: Bool) async throws(SyncError) {
    let type: RecordType? = if let typeName { try await entity(named: typeName).type } else { nil }
    var objects: [JSON] = []
    var (count, before) = (0, Int64?.none)
    repeat {
      let (start, portion) = (before, min(100, limit - count))
      let conflicts = try await store.read { (snapshot) throws(SyncError) in
        try snapshot.portion(conflicts: type, before: start, limit: portion)
      }
      for conflict in conflicts {
        if isJSON { objects.append(Self.object(conflict, isFull)) } else { print(conflict, isFull) }
      }
      count += conflicts.count
      before = conflicts.last?.number
    } while before != nil && count < limit
    if !isJSON, count == 0 { output.line("No edit has met another one.") }
    finish(["conflicts": .integer(count), "entries": .array(objects)])
  }

  private static let shownBytes = 200

  private func print(_ conflict: Conflict, _ isFull: Bool) {
    output.line(
      "\(conflict.id), settled at \(conflict.settledAt.spelled): \(conflict.winner.sentence), because \(conflict.reason)"
    )
    let sides = [
      ("here  ", conflict.local.stamp, conflict.local.content.payload),
      ("remote", conflict.remoteStamp, conflict.remotePayload),
    ]
    for (name, stamp, payload) in sides {
      let content = payload.map { Self.shown($0, isFull).text } ?? "deleted"
      output.line("  \(name)  \(stamp.physical.spelled)  \(content)")
    }
  }

  private static func object(_ conflict: Conflict, _ isFull: Bool) -> JSON {
    let version: JSON =
      switch conflict.remote {
      case .upsert(let record): .version(record.version)
      case .tombstone(let tombstone): .version(tombstone.version)
      case .malformed: .null
      }
    let local = side(conflict.local.stamp, conflict.local.content.payload, isFull)
    let remote = side(conflict.remoteStamp, conflict.remotePayload, isFull)
    return [
      "number": .integer(Int(conflict.number)), "type": .string(conflict.id.type.rawValue),
      "key": .string(conflict.id.key), "settledAtMilliseconds": .time(conflict.settledAt),
      "winner": .string(conflict.winner.rawValue), "reason": .string(conflict.reason),
      "local": .object(local), "remote": .object(remote + [("version", version)]),
    ]
  }

  private static func side(
    _ stamp: EditStamp, _ payload: Payload?, _ isFull: Bool
  ) -> [(key: String, value: JSON)] {
    let content = payload.map { shown($0, isFull) }
    return [
      ("what", payload == nil ? "delete" : "upsert"), ("stamp", .string(stamp.description)),
      ("editedAtMilliseconds", .time(stamp.physical)), ("content", .text(content?.text)),
      ("isWhole", .bool(content?.isWhole ?? true)),
    ]
  }

  /// A record on one line, or its beginning.
  private static func shown(_ payload: Payload, _ isFull: Bool) -> (text: String, isWhole: Bool) {
    let bytes = JSONScanner.compacted(payload.bytes)
    guard !isFull, bytes.count > shownBytes else { return (String(decoding: bytes, as: UTF8.self), true) }
    return (String(decoding: bytes.prefix(shownBytes), as: UTF8.self) + "…", false)
  }
}

extension Conflict.Winner {
  /// The outcome of a conflict, for a person.
  var sentence: String {
    switch self {
    case .local: "the local edit won"
    case .remote: "the remote state won"
    case .merged: "both were merged"
    }
  }
}

extension Conflict {
  fileprivate var remotePayload: Payload? {
    if case .upsert(let record) = remote { record.payload } else { nil }
  }
}
