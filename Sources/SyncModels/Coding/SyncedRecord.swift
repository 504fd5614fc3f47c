import SyncJSON

/// A Swift type that the records of one record type decode as.
///
/// A type that is `Identifiable` by its record's key can be edited without naming the key:
/// `edits.upsert(game)`. Its `id` need not be a member of the payload: the key takes its place.
/// Dates, URLs, data, decimal numbers and UUIDs have the forms that JSON APIs use;
/// ``RecordCoding`` tells which, and how to select others.
///
/// ```swift
/// struct Game: SyncedRecord, Codable, Identifiable {
///   static let recordType: RecordType = "games"
///   var id: String
///   var startsAt: Date
///   var tickets: URL?
///   var price: Decimal
/// }
/// ```
public protocol SyncedRecord: Decodable, Sendable {
  /// The type of the records.
  static var recordType: RecordType { get }
  /// The forms of the values, and the place of the key.
  static var coding: RecordCoding { get }
}

extension SyncedRecord {
  /// Each value in its type's form, and `id` as the record's key.
  public static var coding: RecordCoding { RecordCoding() }
}

/// A live record that does not decode as the requested type.
public struct Undecodable: Error, Hashable, Sendable {
  /// The record; it stays in the store, unchanged.
  public var id: RecordID
  /// The missing or mistyped part, without record contents.
  public var reason: String

  /// Creates the description of a record that does not decode.
  public init(id: RecordID, reason: String) {
    self.id = id
    self.reason = reason
  }
}

extension Undecodable: CustomStringConvertible {
  /// The record and the reason, as one sentence.
  public var description: String { "\(id) does not decode: \(reason)" }
}

extension Payload {
  /// Decodes the payload of a record as the app's own type.
  ///
  /// Merge policies use it for the sides of a conflict.
  ///
  /// - Parameters:
  ///   - type: The app's type.
  ///   - key: The record's key, which a missing `id` gets; see ``RecordCoding/key``.
  /// - Throws: ``Undecodable`` with the missing or mistyped part, without contents.
  public func decoded<T: SyncedRecord>(as type: T.Type, key: String) throws(Undecodable) -> T {
    try ModelReader(type, habits: nil).decode(self, key: key)
  }
}

extension Payload {
  /// Encodes a value as a record's payload, in the forms that its type selects.
  ///
  /// It is what an edit of the value sends, so a source of your own can make records of it.
  ///
  /// - Throws: `invalidEdit` for a value that is not one JSON object.
  public init(encoding value: some SyncedRecord & Encodable) throws(SyncError) {
    do {
      self = try value.fields().payload
    } catch {
      throw SyncError(
        .invalidEdit, during: "encoding a record of \(type(of: value).recordType)",
        "The value cannot be written as one JSON object. \(CodingFlaw(error))", underlying: error)
    }
  }
}

extension SyncedRecord where Self: Encodable {
  /// Returns the value's members, as an edit writes them.
  ///
  /// - Parameter spellsNil: Whether each optional that is nil becomes null, and is not left out.
  package func fields(spellingNil spellsNil: Bool = false) throws -> FieldMap {
    var encoder = JSONByteEncoder()
    encoder.forms = Self.coding
    let bytes = spellsNil ? try encoder.encodeSpellingNil(self) : try encoder.encode(self)
    var fields = try FieldMap(Payload(bytes))
    if case .omitted(let member) = Self.coding.key, Self.self is any Identifiable.Type {
      fields[member] = nil
    }
    return fields
  }
}

extension SyncedRecord {
  /// Returns the keys that an `id` may stand for, the one that a new record gets first; empty where
  /// it is no key.
  package static func keys(of id: any RecordKey) -> [String] {
    guard let member = coding.keyMember else { return [] }
    guard let formed = id as? any ScalarFormed,
      case .string(let text)? = try? coding.scalar(of: formed, at: { [member.rawValue] })
    else { return id.recordKeys }
    return [text] + id.recordKeys.filter { !$0.isSameUTF8(as: text) }
  }

  /// Whether the value's `id` names another record than a key does.
  package func isNamed(otherThan key: String) -> Bool { ownID.map { !$0.names(key) } ?? false }

  private var ownID: (any RecordKey)? {
    guard Self.coding.keyMember != nil, let value = self as? any Identifiable else { return nil }
    return value.id as? any RecordKey
  }

  /// Returns a key as the JSON value of `id`; `nil` where it is no key.
  static func json(ofKey key: String) -> [UInt8]? {
    guard let type = Self.self as? any Identifiable.Type, let id = idType(of: type) else { return nil }
    return (id.isNumber ? JSONScalar.number(key).json : nil) ?? JSONScalar.string(key).json
  }

  private static func idType<T: Identifiable>(of type: T.Type) -> (any RecordKey.Type)? {
    T.ID.self as? any RecordKey.Type
  }
}

extension RecordCoding {
  /// The members that a record gets where it lacks them.
  var addedDefaults: [JSONByteDecoder.Addition] {
    defaults.compactMap { name, value in
      value.scalar?.json.map { json in .init(name.rawValue, replacesNull: true) { _ in json } }
    }
  }

  /// The member in whose place the key stands; `nil` if `id` is not the key.
  package var keyMember: FieldName? {
    switch key {
    case .member(let name), .omitted(let name): name
    case .unrelated: nil
    }
  }
}
