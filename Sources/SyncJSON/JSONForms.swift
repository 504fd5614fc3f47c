/// Reads and writes values of some types in forms other than their `Codable` ones.
///
/// `path` gives the names of the members around the value, and is evaluated only if it is needed.
package protocol JSONForms: Sendable {
  /// Reads a value; `nil` if the type decodes itself.
  ///
  /// - Throws: ``JSONFormFailure`` for a JSON value of another form.
  func read<Value>(
    _ type: Value.Type, from json: JSONValueSlice, at path: () -> [String]
  ) throws(JSONFormFailure) -> Value?

  /// Tells where the form of a type's values is.
  func place<Value>(of type: Value.Type) -> JSONFormPlace

  /// Returns the JSON text of a value; `nil` if its type encodes itself.
  ///
  /// - Throws: ``JSONFormFailure`` for a value that the form cannot represent.
  func write<Value>(_ value: Value, at path: () -> [String]) throws(JSONFormFailure) -> [UInt8]?

  /// Checks what a value whose type encodes itself has written.
  ///
  /// - Parameter keys: The type of the keys under which the value wrote its members; `nil` if it
  ///   wrote no object.
  /// - Throws: ``JSONFormFailure`` for text that must not be a record's.
  func check<Value>(
    _ text: ArraySlice<UInt8>, of value: Value, keyedBy keys: (any CodingKey.Type)?, at path: () -> [String]
  ) throws(JSONFormFailure)
}

/// Where the form of a type's values is.
package enum JSONFormPlace {
  /// The type decodes itself.
  case ownDecoding
  /// One form for all values: a ``JSONFormReader`` of the type.
  case everywhere(AnyObject)
  /// Another one in some members.
  case byMember
}

/// Reads values of one type in their form.
package final class JSONFormReader<Value> {
  let read: (JSONValueSlice) throws(JSONFormFailure) -> Value

  /// Creates a reader.
  package init(_ read: @escaping (JSONValueSlice) throws(JSONFormFailure) -> Value) { self.read = read }
}

/// A value that does not fit a form. The sentence names the form, never the value.
package struct JSONFormFailure: Error {
  package var message: String

  package init(_ message: String) {
    self.message = message
  }
}

extension JSONText {
  /// Decodes a value by the reader of its form.
  func read<Value>(
    _ type: Value.Type, by reader: AnyObject, at node: Int, path: () -> [any CodingKey]
  ) throws -> Value {
    do throws(JSONFormFailure) {
      // It is known by the type. A checked cast would take longer than most reads.
      return try unsafeDowncast(reader, to: JSONFormReader<Value>.self).read(
        JSONValueSlice(document: bytes, token: nodes[node].token))
    } catch {
      throw refusal(type, error, at: node, path())
    }
  }

  @inline(never)
  private func refusal(
    _ type: any Any.Type, _ failure: JSONFormFailure, at node: Int, _ path: [any CodingKey]
  ) -> DecodingError {
    let context = DecodingError.Context(codingPath: path, debugDescription: failure.message)
    return kind(of: node) == .null ? .valueNotFound(type, context) : .dataCorrupted(context)
  }

  /// Decodes a value of any type, in its form if it has one.
  @inline(never)
  func formed<Value: Decodable>(
    _ type: Value.Type, at node: Int, path: () -> [any CodingKey]
  ) throws -> Value? {
    guard let forms else { return nil }
    let json = JSONValueSlice(document: bytes, token: nodes[node].token)
    do throws(JSONFormFailure) {
      return try forms.read(type, from: json) { path().memberNames }
    } catch {
      throw refusal(type, error, at: node, path())
    }
  }
}

extension JSONDraft {
  /// Writes a value in its form, if it has one.
  func writeFormed<Value: Encodable>(_ value: Value, path: JSONPath?) throws -> Bool {
    guard let forms else { return false }
    do throws(JSONFormFailure) {
      guard let text = try forms.write(value, at: { JSONPath.keys(path).memberNames }) else { return false }
      append(text)
      return true
    } catch {
      throw refusal(Value.self, error, path)
    }
  }

  /// Checks what a value has written that has no form.
  func check<Value: Encodable>(
    _ text: ArraySlice<UInt8>, of value: Value, keyedBy keys: (any CodingKey.Type)?, path: JSONPath?
  ) throws {
    guard let forms else { return }
    do throws(JSONFormFailure) {
      try forms.check(text, of: value, keyedBy: keys) { JSONPath.keys(path).memberNames }
    } catch {
      throw refusal(Value.self, error, path)
    }
  }

  private func refusal<Value>(_ type: Value.Type, _ failure: JSONFormFailure, _ path: JSONPath?)
    -> EncodingError
  {
    // Not the value itself: it is no part of a message, and describing a date out of range traps.
    .invalidValue("\(type)", .init(codingPath: JSONPath.keys(path), debugDescription: failure.message))
  }
}

extension [any CodingKey] {
  /// The names of the members in a coding path, without the places in arrays.
  fileprivate var memberNames: [String] { compactMap { $0.intValue == nil ? $0.stringValue : nil } }
}
