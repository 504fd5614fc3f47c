import SyncJSON
import SyncModels

/// Reads records of one type by the pointers of a description.
struct RESTRecordReader: Sendable {
  private let collection: RESTAPI.Collection
  private let entity: Entity
  private let pointers: [JSONPointer]
  private let numbers: NumberMeaning

  /// What a number in the place of a version means.
  private enum NumberMeaning: Sendable {
    case sequence
    case seconds
    case milliseconds
  }

  /// - Parameter entity: The app's declaration of the type, whose fields are extracted.
  init(_ collection: RESTAPI.Collection, as entity: Entity) {
    self.collection = collection
    self.entity = entity
    pointers = [collection.id] + [collection.version, collection.deleted].compactMap(\.self)
    numbers =
      switch collection.delta {
      case .since(_, format: .seconds, _, _): .seconds
      case .since(_, format: .milliseconds, _, _): .milliseconds
      default: .sequence
      }
  }

  /// Reads one element of a list: a record, a tombstone, or a malformed record with a reason.
  func read(_ bytes: ArraySlice<UInt8>) -> RecordChange {
    var key: String?
    let reason: String
    do {
      let value = try JSONValueSlice(checking: bytes)
      guard value.kind == .object else { throw Flaw("is \(value.kind.inWords), not an object") }
      let found = JSONPointer.values(at: pointers, in: value)
      let id = try self.key(found[0])
      key = id
      let version = try version(collection.version == nil ? nil : found[1])
      let recordID = RecordID(type: entity.type, key: id)
      if collection.deleted != nil, try isDeleted(found.last ?? nil) {
        return .tombstone(Tombstone(id: recordID, version: version))
      }
      let payload = Payload(value.bytes)
      guard let schemaVersion = try entity.schemaVersion(of: payload) else {
        throw Flaw("\"\(entity.schemaVersionField?.rawValue ?? "")\" is not a whole number of 1 or more")
      }
      return .upsert(
        Record(
          id: recordID, version: version, schemaVersion: schemaVersion, payload: payload,
          fields: try entity.fields(of: payload)))
    } catch let flaw as Flaw {
      reason = flaw.reason
    } catch let error as JSONError {
      reason = error.description
    } catch {
      reason = "cannot be read"
    }
    return .malformed(
      MalformedRecord(type: entity.type, key: key, bytes: Payload(bytes).detached(), reason: reason))
  }

  private struct Flaw: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }

  private func key(_ value: JSONValueSlice?) throws -> String {
    guard let value, !value.isNull else {
      throw Flaw("\(collection.id) (\(collection.place("id"))) leads to \(value == nil ? "nothing" : "null")")
    }
    if let text = value.string(), !text.isEmpty { return text }
    if let number = value.integer() { return String(number) }
    let found = value.kind == .string ? "empty text" : value.kind.inWords
    throw Flaw("\(collection.id) (\(collection.place("id"))) is \(found), not text or a whole number")
  }

  private func version(_ value: JSONValueSlice?) throws -> Version {
    let none = Version(modifiedAt: Timestamp(microseconds: 0))
    guard let value, !value.isNull else { return none }
    if let time = value.string().flatMap({ Timestamp(iso8601: $0) }) { return Version(modifiedAt: time) }
    let place = "\(collection.version?.text ?? "") (\(collection.place("version")))"
    // A copy without an order would be taken for older than every other one.
    guard let number = value.double() else {
      throw Flaw("\(place) is \(value.kind.inWords), not a time or a number")
    }
    let whole = value.integer()
    switch numbers {
    case .sequence:
      guard let sequence = whole ?? Int64(exactly: number.rounded(.down)) else {
        throw Flaw("\(place) is a number beyond 64 bits")
      }
      return Version(sequence: sequence, modifiedAt: Timestamp(microseconds: 0))
    case .seconds: return Version(modifiedAt: Self.time(number * 1e6))
    case .milliseconds:
      return Version(modifiedAt: whole.map { Timestamp(milliseconds: $0) } ?? Self.time(number * 1e3))
    }
  }

  private static func time(_ microseconds: Double) -> Timestamp {
    Timestamp(microseconds: Int64(exactly: microseconds.rounded()) ?? (microseconds < 0 ? .min : .max))
  }

  private func isDeleted(_ value: JSONValueSlice?) throws -> Bool {
    guard let value, !value.isNull else { return false }
    if let word = collection.deletedWord { return value.string() == word }
    if let flag = value.bool() { return flag }
    if let number = value.double() { return number != 0 }
    if let text = value.string() {
      if text.isEmpty { return false }
      if Timestamp(iso8601: text) != nil { return true }
    }
    throw Flaw(
      "\(collection.deleted?.text ?? "") (\(collection.place("deleted"))) is neither true, false, null nor a time"
    )
  }

  /// Whether an element of a list lacks the member that a pointer names.
  static func lacks(_ pointer: JSONPointer, _ bytes: ArraySlice<UInt8>) -> Bool {
    guard let value = try? JSONValueSlice(checking: bytes) else { return false }
    return pointer.value(in: value) == nil
  }
}
