import SyncJSON
import SyncModels

/// A value of the engine with a form of JSON that the store keeps.
///
/// Each sync reads and writes such values, without generic coding: the first coding of a type in a
/// process takes longer than the rest of a small sync, because the runtime searches for
/// conformances and makes metadata.
package protocol StoredForm: Sendable {
  /// The JSON that the store keeps.
  var json: [UInt8] { get }

  /// Reads the form of ``json``. Unknown members say nothing.
  init(_ members: StoredMembers) throws(StoredFormError)
}

extension StoredForm {
  /// Reads the form of ``json``.
  ///
  /// - Throws: ``StoredFormError`` for bytes that are no object, a missing member or one of another
  ///   form, and a number out of range.
  package init(json: [UInt8]) throws(StoredFormError) {
    try self.init(StoredMembers(json[...]))
  }
}

/// Which part of a kept value has another form than this version of the library writes.
package struct StoredFormError: Error, CustomStringConvertible {
  /// The names of the member and of those around it; empty for the value itself.
  var path: [String]

  /// The member, without its value.
  package var description: String {
    path.isEmpty
      ? "It is no JSON object."
      : "Its member \(path.joined(separator: ".")) is missing or has another form."
  }
}

/// The members of one JSON object, read by their names.
package struct StoredMembers {
  private let members: [JSONMember]

  /// Reads the members of an object.
  init(_ json: ArraySlice<UInt8>) throws(StoredFormError) {
    var members: [JSONMember] = []
    members.reserveCapacity(12)
    do throws(JSONError) {
      try JSONScanner.members(of: json) { (member) throws(JSONError) in members.append(member) }
    } catch {
      throw StoredFormError(path: [])
    }
    self.members = members
  }

  /// Reads a member that each form has.
  func value<Value>(
    _ name: String, _ read: (JSONValueSlice) throws(StoredFormError) -> Value?
  ) throws(StoredFormError) -> Value {
    guard let value = try value(ifPresent: name, read) else { throw StoredFormError(path: [name]) }
    return value
  }

  /// Reads a member that a form may lack.
  func value<Value>(
    ifPresent name: String, _ read: (JSONValueSlice) throws(StoredFormError) -> Value?
  ) throws(StoredFormError) -> Value? {
    guard let member = members.first(where: { $0.hasKey(name) }) else { return nil }
    return try Self.value(of: member, read)
  }

  /// Reads all members alike.
  func dictionary<Value>(
    _ read: (JSONValueSlice) throws(StoredFormError) -> Value?
  ) throws(StoredFormError) -> [String: Value] {
    var values: [String: Value] = [:]
    for member in members { values[member.key] = try Self.value(of: member, read) }
    return values
  }

  private static func value<Value>(
    of member: JSONMember, _ read: (JSONValueSlice) throws(StoredFormError) -> Value?
  ) throws(StoredFormError) -> Value {
    do throws(StoredFormError) {
      if let value = try read(member.value) { return value }
    } catch {
      throw StoredFormError(path: [member.key] + error.path)
    }
    throw StoredFormError(path: [member.key])
  }
}

extension JSONValueSlice {
  /// The number, if it fits.
  func number<Number: FixedWidthInteger>() -> Number? {
    integer().flatMap(Number.init(exactly:))
  }

  /// The number, if it fits and is one of ``StoredNumbers/counts``.
  func count<Number: FixedWidthInteger>() -> Number? {
    integer().flatMap { StoredNumbers.counts.contains($0) ? Number(exactly: $0) : nil }
  }

  /// The instant of a number of microseconds.
  func timestamp() -> Timestamp? { integer().map(Timestamp.init(microseconds:)) }

  /// The members of an object.
  func members() throws(StoredFormError) -> StoredMembers { try StoredMembers(bytes) }

  /// The elements of an array, read alike; `nil` if one of them has another form.
  func elements<Value>(
    _ read: (JSONValueSlice) throws(StoredFormError) -> Value?
  ) -> [Value]? {
    var values: [Value]? = []
    do throws(JSONError) {
      try JSONScanner.elements(of: bytes) { (element) throws(JSONError) in
        if let value = try? read(element) { values?.append(value) } else { values = nil }
      }
    } catch {
      return nil
    }
    return values
  }
}

extension [UInt8] {
  /// Appends a member with a text, if there is one, after another member.
  mutating func appendMember(_ name: String, _ text: String?) {
    guard let text else { return }
    appendName(name)
    JSONString.append(text, to: &self)
  }

  /// Appends a member with a number, if there is one, after another member.
  mutating func appendMember(_ name: String, _ number: (some FixedWidthInteger)?) {
    guard let number else { return }
    appendName(name)
    self += number.description.utf8
  }

  private mutating func appendName(_ name: String) {
    self += ",\"".utf8
    self += name.utf8
    self += "\":".utf8
  }
}
