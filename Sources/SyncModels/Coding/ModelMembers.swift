import SyncJSON
import Synchronization

/// The members of a record that a Swift type decodes.
///
/// A name that the app misspells, or takes from Swift and not from JSON, is found by them.
package struct ModelMembers: Sendable {
  private let keys: [any CodingKey.Type]

  /// The types that have decoded a record, because the keys are the same for each record.
  private static let known = Mutex<[ObjectIdentifier: ModelMembers]>([:])

  /// Whether the type decodes a member, or may: its code may read all of an object.
  package func contains(_ name: FieldName) -> Bool {
    keys.isEmpty || keys.contains { $0.init(stringValue: name.rawValue) != nil }
  }

  /// The members that a type decodes; `nil` while no record has been decoded.
  ///
  /// - Parameter sample: Returns a record of the type, if there is one.
  package static func of<T: SyncedRecord>(
    _ type: T.Type, sample: () throws(SyncError) -> Record?
  ) throws(SyncError) -> ModelMembers? {
    let place = ObjectIdentifier(type)
    if let members = known.withLock({ $0[place] }) { return members }
    guard let record = try sample(),
      // A record that does not decode tells only a part of the keys. Reads report it.
      let noting = try? record.payload.decoded(as: Noting<T>.self, key: record.id.key)
    else { return nil }
    let members = ModelMembers(keys: noting.keys)
    known.withLock { $0[place] = members }
    return members
  }
}

/// A value that is decoded, with the types of the keys by which it did so.
private struct Noting<Value: SyncedRecord>: SyncedRecord {
  static var recordType: RecordType { Value.recordType }
  static var coding: RecordCoding { Value.coding }

  let value: Value
  let keys: [any CodingKey.Type]

  init(from decoder: any Decoder) throws {
    let noting = NotingDecoder(decoder)
    value = try Value(from: noting)
    keys = noting.keys
  }
}

// The key takes the place of an `id` that the record lacks.
extension Noting: Identifiable where Value: Identifiable {
  var id: Value.ID { value.id }
}

/// A decoder that notes the types of the keys which are asked for in its place.
private final class NotingDecoder: Decoder {
  private let base: any Decoder
  private var noted: [any CodingKey.Type] = []
  private var isOpen = false

  init(_ base: any Decoder) { self.base = base }

  /// The types of keys; none if the value took the object in another way too.
  var keys: [any CodingKey.Type] { isOpen ? [] : noted }

  var codingPath: [any CodingKey] { base.codingPath }
  var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    noted.append(type)
    return try base.container(keyedBy: type)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    isOpen = true
    return try base.unkeyedContainer()
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    isOpen = true
    return try base.singleValueContainer()
  }
}
