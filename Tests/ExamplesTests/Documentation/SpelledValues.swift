import CanonicalSync
import Foundation

// The code of Docs/WritingAStore.md: the encoding of values that are not `Codable`.

/// A value that is encoded as the list of its parts.
protocol Spellable {
  var parts: [any Encodable] { get }
  init(_ list: inout any UnkeyedDecodingContainer) throws
}

/// Values that are encoded by their parts.
@propertyWrapper
struct Spelled<Value: Spellable>: Codable {
  var wrappedValue: [Value] = []

  init(wrappedValue: [Value]) { self.wrappedValue = wrappedValue }

  init(from decoder: any Decoder) throws {
    var values = try decoder.unkeyedContainer()
    while !values.isAtEnd {
      var list: any UnkeyedDecodingContainer = try values.nestedUnkeyedContainer()
      wrappedValue.append(try Value(&list))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.unkeyedContainer()
    for value in wrappedValue {
      var list = values.nestedUnkeyedContainer()
      for part in value.parts { try list.encode(part) }
    }
  }
}

extension UnkeyedDecodingContainer {
  mutating func next<Part: Decodable>() throws -> Part { try decode(Part.self) }
  mutating func payload() throws -> Payload { Payload(Array(try decode(Data.self))) }
  mutating func values<Value: Spellable>() throws -> [Value] { try decode(Spelled<Value>.self).wrappedValue }
}

extension RecordChange: Spellable {
  var parts: [any Encodable] {
    switch self {
    case .upsert(let copy):
      ["copy", copy.id, copy.version, copy.entityTag, copy.schemaVersion, Data(copy.payload.bytes)]
    case .tombstone(let gone): ["deletion", gone.id, gone.version, gone.entityTag]
    case .malformed(let bad): ["bytes", bad.type, bad.key, Data(bad.bytes.bytes), bad.reason, bad.location]
    }
  }

  init(_ list: inout any UnkeyedDecodingContainer) throws {
    switch try list.decode(String.self) {
    case "copy":
      self = try .upsert(
        Record(
          id: list.next(), version: list.next(), entityTag: list.next(), schemaVersion: list.next(),
          payload: list.payload(), fields: []))
    case "deletion":
      self = try .tombstone(Tombstone(id: list.next(), version: list.next(), entityTag: list.next()))
    default:
      let (type, key): (RecordType, String?) = try (list.next(), list.next())
      self = try .malformed(
        MalformedRecord(
          type: type, key: key, bytes: list.payload(), reason: list.next(), location: list.next()))
    }
  }
}

extension RecordChange {
  /// The change without its copy's fields, which the port does not store.
  ///
  /// That holds for edits and conflicts.
  var bare: RecordChange {
    guard case .upsert(var copy) = self else { return self }
    copy.fields = []
    return .upsert(copy)
  }
}

extension StoredRow: Spellable {
  var parts: [any Encodable] {
    let deletion = RecordChange.tombstone(Tombstone(id: id, version: version, entityTag: entityTag))
    return [Spelled(wrappedValue: [record.map { .upsert($0) } ?? deletion]), isMarked]
  }

  init(_ list: inout any UnkeyedDecodingContainer) throws {
    let (changes, isMarked): ([RecordChange], Bool) = try (list.values(), list.next())
    switch changes[0] {
    case .upsert(let copy):
      self.init(
        id: copy.id, version: copy.version, entityTag: copy.entityTag, record: copy, isMarked: isMarked)
    case .tombstone(let gone):
      self.init(
        id: gone.id, version: gone.version, entityTag: gone.entityTag, record: nil, isMarked: isMarked)
    case .malformed:
      throw DecodingError.dataCorruptedError(in: list, debugDescription: "A row is a copy or a deletion.")
    }
  }
}

extension Edit: Spellable {
  var parts: [any Encodable] {
    guard case .upsert(let payload, let schema) = content else { return [stamp] }
    return [stamp, Data(payload.bytes), schema]
  }

  init(_ list: inout any UnkeyedDecodingContainer) throws {
    let stamp: EditStamp = try list.next()
    let payload: Payload? = list.isAtEnd ? nil : try list.payload()
    let content: Content = try payload.map { .upsert($0, schemaVersion: try list.next()) } ?? .deletion
    self.init(content, stamp: stamp)
  }
}

extension WithheldChange: Spellable {
  var parts: [any Encodable] {
    let digest: UInt64? = if case .bytes(_, let digest) = key { digest } else { nil }
    let id = if case .record(let id) = key { id } else { RecordID(type: key.type, key: "") }
    return [id, digest, kind, Spelled(wrappedValue: [change]), reason, waitsFor, pass, finder, since]
  }

  init(_ list: inout any UnkeyedDecodingContainer) throws {
    let (id, digest): (RecordID, UInt64?) = try (list.next(), list.next())
    try self.init(
      key: digest.map { .bytes(id.type, digest: $0) } ?? .record(id), kind: list.next(),
      change: list.values()[0], reason: list.next(), waitsFor: list.next(), pass: list.next(),
      finder: list.next(), since: list.next())
  }
}

extension OutboxEntry: Spellable {
  var parts: [any Encodable] {
    let deletion: RecordChange? = if case .deleted(let gone) = base { .tombstone(gone) } else { nil }
    let bases = [deletion, base.record.map { .upsert($0) }].compactMap(\.self)
    let (time, refusal): (Timestamp?, String?) =
      switch state {
      case .waiting: (nil, nil)
      case .postponed(let until): (until, nil)
      case .refused(let reason, let at): (at, reason)
      }
    let rebuilt: Rebuilt? = if case .rebuild(let rebuilt) = author { rebuilt } else { nil }
    return [
      id, Spelled(wrappedValue: [edit, sent].compactMap(\.self)), Spelled(wrappedValue: bases), time, refusal,
      attempts, rebuilt?.lastWrite, rebuilt?.pass, leaves,
    ]
  }

  init(_ list: inout any UnkeyedDecodingContainer) throws {
    let id: RecordID = try list.next()
    let (edits, bases): ([Edit], [RecordChange]) = try (list.values(), list.values())
    let (time, refusal): (Timestamp?, String?) = try (list.next(), list.next())
    let (attempts, lastWrite, pass): (Int, EditStamp?, Int64?) = try (list.next(), list.next(), list.next())
    let base: Base =
      switch bases.first {
      case .upsert(let copy): .copy(copy)
      case .tombstone(let gone): .deleted(gone)
      case .malformed, nil: .none
      }
    self.init(
      id: id, edit: edits[0], base: base, sent: edits.count > 1 ? edits[1] : nil,
      state: time.map { at in refusal.map { .refused(reason: $0, at: at) } ?? .postponed(until: at) }
        ?? .waiting, attempts: attempts,
      author: lastWrite.map { .rebuild(Rebuilt(lastWrite: $0, pass: pass ?? 0)) } ?? .app,
      leaves: try list.next())
  }
}

extension OutboxEntry {
  /// The entry as the port stores it: the base without fields.
  var bare: OutboxEntry {
    var entry = self
    if case .copy(let copy) = base, case .upsert(let bare) = RecordChange.upsert(copy).bare {
      entry.base = .copy(bare)
    }
    return entry
  }
}

extension Conflict: Spellable {
  var parts: [any Encodable] {
    [
      number, id, settledAt, Spelled(wrappedValue: [local]), Spelled(wrappedValue: [remote]), remoteStamp,
      base.map { Data($0.bytes) }, winner, reason,
    ]
  }

  init(_ list: inout any UnkeyedDecodingContainer) throws {
    let (number, id, time): (Int64, RecordID, Timestamp) = try (list.next(), list.next(), list.next())
    let (edits, changes): ([Edit], [RecordChange]) = try (list.values(), list.values())
    let (stamp, base): (EditStamp, Data?) = try (list.next(), list.next())
    try self.init(
      number: number, id: id, settledAt: time, local: edits[0], remote: changes[0], remoteStamp: stamp,
      base: base.map { Payload(Array($0)) }, winner: list.next(), reason: list.next())
  }
}
