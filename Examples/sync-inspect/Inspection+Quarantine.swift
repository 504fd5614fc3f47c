import CanonicalSync
import CanonicalSyncToolSupport
import SyncAdapters
import SyncJSON

extension Inspection {
  /// Prints malformed records: the reason, the location and the bytes.
  ///
  /// - Parameters:
  ///   - typeName: The type to show; `nil` for all.
  ///   - isFull: Whether all bytes are shown, or only the beginning.
  func quarantine(_ typeName: String?, isFull: Bool) async throws(SyncError) {
    let entities = if let typeName { [try await entity(named: typeName)] } else { try await entities() }
    var objects: [JSON] = []
    var count = 0
    for entity in entities {
      var after: WithheldChange.Key?
      repeat {
        let start = after
        let entries = try await store.read { (snapshot) throws(SyncError) in
          try snapshot.portion(withheld: entity.type, [.quarantined], after: start, limit: 100)
        }
        for entry in entries {
          if isJSON { objects.append(Self.object(entry, isFull)) } else { print(entry, isFull) }
        }
        count += entries.count
        after = entries.last?.key
      } while after != nil
    }
    if !isJSON, count == 0 { output.line("Nothing is quarantined.") }
    finish(["quarantined": .integer(count), "entries": .array(objects)])
  }

  private static let shownBytes = 200

  private func print(_ entry: WithheldChange, _ isFull: Bool) {
    let bytes = entry.change.bytes
    let shown = isFull ? bytes : bytes.prefix(Self.shownBytes)
    let place = entry.location.map { ", \($0)" } ?? ""
    output.prose("\(entry.name)\(place): \(entry.reason)")
    let quoted = String(decoding: JSONString.quoted(String(decoding: shown, as: UTF8.self)), as: UTF8.self)
    let end = shown.count < bytes.count ? "…" : ""
    output.line("  \(Counted(bytes.count, "byte").grouped) since \(entry.since.spelled): \(quoted)\(end)")
  }

  private static func object(_ entry: WithheldChange, _ isFull: Bool) -> JSON {
    let bytes = entry.change.bytes
    let shown = isFull ? bytes : bytes.prefix(shownBytes)
    return [
      "type": .string(entry.key.type.rawValue), "key": .text(entry.change.id?.key),
      "reason": .string(entry.reason), "location": .text(entry.location),
      "bytes": .integer(bytes.count), "content": .string(String(decoding: shown, as: UTF8.self)),
      "isWhole": .bool(shown.count == bytes.count), "sinceMilliseconds": .time(entry.since),
      "pass": .integer(Int(entry.pass)),
    ]
  }
}

extension WithheldChange {
  /// The record's id, or what else distinguishes the entry.
  var name: String {
    if let id = change.id { return id.description }
    guard case .bytes(let type, let digest) = key else { return key.type.rawValue }
    return "\(type), unknown record \(String(digest, radix: 16))"
  }

  /// Where the remote's bytes were found, if the source knows it.
  var location: String? {
    if case .malformed(let malformed) = change { malformed.location } else { nil }
  }
}
