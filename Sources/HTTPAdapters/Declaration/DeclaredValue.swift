package import SyncJSON
package import SyncModels

/// One value of a declaration: a JSON text in which a person describes a remote.
///
/// Each error names the path of the member, as in `types.games.paging`. Values that may be secrets
/// are never quoted.
///
/// ```swift
/// let root = try DeclaredValue(bytes, of: "api.json").object(["base", "types"])
/// let base = try root.required("base").text()
/// for (name, type) in try root.required("types").entries() { … }
/// ```
package struct DeclaredValue: Sendable {
  private let json: JSONValueSlice
  private let document: String
  /// The path from the top, empty there.
  package let path: String

  /// Reads a whole declaration.
  ///
  /// - Parameter document: The name of the text, for errors.
  /// - Throws: `invalidConfiguration` if it is not JSON.
  package init(_ bytes: [UInt8], of document: String) throws(SyncError) {
    do {
      json = try JSONValueSlice(checking: bytes[...])
    } catch {
      throw SyncError(
        .invalidConfiguration, during: "reading \(document)",
        "The declaration \(error.reason.rawValue), at \(Self.place(of: error.offset, in: bytes)).",
        underlying: error)
    }
    self.document = document
    path = ""
  }

  /// The line and the column of a byte, each from 1.
  private static func place(of offset: Int, in bytes: [UInt8]) -> String {
    let before = bytes.prefix(offset)
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return "line \(line), column \(String(decoding: before[start...], as: UTF8.self).count + 1)"
  }

  private init(_ json: JSONValueSlice, at path: String, of document: String) {
    self.json = json
    self.path = path
    self.document = document
  }

  /// The kind of the value.
  package var kind: JSONValueSlice.Kind { json.kind }

  /// An error about this value: its path, and then the complaint.
  package func failure(_ complaint: String) -> SyncError {
    SyncError(
      .invalidConfiguration, during: "reading \(document)",
      "\(path.isEmpty ? "The declaration" : path) \(complaint)")
  }

  /// The error for another kind of value than was expected.
  private func mismatch(_ expected: String) -> SyncError { failure("is \(kind.inWords), not \(expected).") }

  // MARK: Single values

  /// A text that is not empty.
  package func text() throws(SyncError) -> String {
    let text = try textOrNothing()
    guard !text.isEmpty else { throw failure("is empty.") }
    return text
  }

  /// A text that may be empty.
  package func textOrNothing() throws(SyncError) -> String {
    guard let text = json.string() else { throw mismatch("text") }
    return text
  }

  /// A value of some kinds, as JSON.
  package func json(_ kinds: JSONValueSlice.Kind...) throws(SyncError) -> [UInt8] {
    guard kinds.contains(kind) else { throw mismatch(kinds.map(\.inWords).joined(separator: " or ")) }
    return Array(json.bytes)
  }

  /// `true` or `false`.
  package func flag() throws(SyncError) -> Bool {
    guard let flag = json.bool() else { throw mismatch("true or false") }
    return flag
  }

  /// A whole number in a range.
  package func wholeNumber(in range: ClosedRange<Int>) throws(SyncError) -> Int {
    guard kind == .number else { throw mismatch("a number") }
    guard let number = json.integer().flatMap({ Int(exactly: $0) }), range.contains(number) else {
      throw failure("must be a whole number from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }

  /// A number of seconds in a range. It may have a fraction.
  package func seconds(in range: ClosedRange<Double>) throws(SyncError) -> Duration {
    guard let number = json.double() else { throw mismatch("a number of seconds") }
    guard range.contains(number) else {
      throw failure("must be from \(range.lowerBound) to \(range.upperBound) seconds.")
    }
    return .seconds(number)
  }

  /// One of several words.
  package func choice<Choice: RawRepresentable & CaseIterable>(
    of type: Choice.Type
  ) throws(SyncError) -> Choice where Choice.RawValue == String {
    let word = try text()
    if let choice = Choice(rawValue: word) { return choice }
    let words = Choice.allCases.map(\.rawValue)
    throw failure("is \"\(word)\"; \(Spelling.nearest(to: word, among: words, "the choices are"))")
  }

  /// A secret's place: `env:NAME` or `file:PATH`.
  package func secret() throws(SyncError) -> HTTPSecret {
    let place = try text()
    if place.hasPrefix("env:"), place.utf8.count > 4 { return .environment(String(place.dropFirst(4))) }
    if place.hasPrefix("file:"), place.utf8.count > 5 { return .file(String(place.dropFirst(5))) }
    // Not quoted: it may be the secret.
    throw failure(
      "must tell where the secret is: \"env:NAME\" or \"file:PATH\". A declaration does not hold secrets.")
  }

  // MARK: Several values

  /// The elements of a list.
  package func elements() throws(SyncError) -> [DeclaredValue] {
    guard kind == .array else { throw mismatch("a list") }
    var elements: [DeclaredValue] = []
    do {
      try JSONScanner.elements(of: json.bytes) { element throws(JSONError) in
        elements.append(DeclaredValue(element, at: "\(path)[\(elements.count)]", of: document))
      }
    } catch {
      throw failure(error.description + ".")
    }
    return elements
  }

  /// The members of an object whose names the person chooses, in order.
  package func entries() throws(SyncError) -> [(name: String, value: DeclaredValue)] {
    guard kind == .object else { throw mismatch("an object") }
    var entries: [(name: String, value: DeclaredValue)] = []
    var seen: Set<[UInt8]> = []
    var repeated: String?
    do {
      try JSONScanner.members(of: json.bytes) { member throws(JSONError) in
        let name = member.key
        if !seen.insert(Array(name.utf8)).inserted { repeated = repeated ?? name }
        let inner = path.isEmpty ? name : "\(path).\(name)"
        entries.append((name, DeclaredValue(member.value, at: inner, of: document)))
      }
    } catch {
      throw failure(error.description + ".")
    }
    if let repeated { throw failure("has two members \"\(repeated)\".") }
    return entries
  }

  /// An object with only known members.
  ///
  /// - Throws: An error for an unknown member, which names the most similar known one.
  package func object(_ known: [String]) throws(SyncError) -> DeclaredObject {
    let entries = try entries()
    if let stranger = entries.first(where: { !known.contains($0.name) }) {
      throw stranger.value.failure(
        "is not a known member; \(Spelling.nearest(to: stranger.name, among: known, "known are"))")
    }
    return DeclaredObject(self, entries.filter { $0.value.kind != .null })
  }

  /// An object of one of several shapes, each known by its first member.
  ///
  /// - Parameter shapes: For each shape, the member that only it has, and its other members.
  /// - Returns: The member that tells the shape, and the object.
  package func variant(
    _ shapes: KeyValuePairs<String, [String]>
  ) throws(SyncError) -> (shape: String, object: DeclaredObject) {
    let names = try entries().map(\.name)
    let found = shapes.filter { names.contains($0.key) }
    guard let shape = found.first else {
      let stranger = names.first { name in !shapes.contains { $0.value.contains(name) } }
      let heads = shapes.map(\.key)
      guard let stranger else { throw failure("has none of the members \(heads.joined(separator: ", ")).") }
      throw failure(
        "has the unknown member \"\(stranger)\"; \(Spelling.nearest(to: stranger, among: heads, "known are"))"
      )
    }
    if found.count > 1 {
      throw failure("has both \"\(found[0].key)\" and \"\(found[1].key)\"; only one is possible.")
    }
    return (shape.key, try object([shape.key] + shape.value))
  }
}

/// An object of a declaration, in which every member is known.
package struct DeclaredObject: Sendable {
  /// The object as a value, for errors about the whole.
  package let value: DeclaredValue
  private let members: [(name: String, value: DeclaredValue)]

  fileprivate init(_ value: DeclaredValue, _ members: [(name: String, value: DeclaredValue)]) {
    self.value = value
    self.members = members
  }

  /// A member; `nil` if it is missing or null.
  package subscript(name: String) -> DeclaredValue? {
    members.first { $0.name == name }?.value
  }

  /// A member that must be there.
  package func required(_ name: String) throws(SyncError) -> DeclaredValue {
    guard let member = self[name] else { throw value.failure("lacks \"\(name)\".") }
    return member
  }
}

extension JSONValueSlice.Kind {
  /// The kind as the middle of a sentence.
  package var inWords: String {
    switch self {
    case .object: "an object"
    case .array: "a list"
    case .string: "text"
    case .number: "a number"
    case .true, .false: "true or false"
    case .null: "null"
    }
  }
}

extension Entity {
  /// The members of a type's declaration that concern the schema.
  package static let declaredMembers = ["references", "indexes"]

  /// Reads a record type from the members of its declaration.
  ///
  /// `"references"` names a type for each field, as in `{"home_team_id": "teams"}`, or
  /// `{"home_team_id": {"type": "teams", "ordered": false}}`. `"indexes"` lists fields.
  package init(_ type: RecordType, from object: DeclaredObject) throws(SyncError) {
    var references: [Reference] = []
    for (field, target) in try object["references"]?.entries() ?? [] {
      guard target.kind == .object else {
        references.append(.to(RecordType(try target.text()), by: FieldName(field)))
        continue
      }
      let members = try target.object(["type", "ordered"])
      references.append(
        .to(
          RecordType(try members.required("type").text()), by: FieldName(field),
          ordered: try members["ordered"]?.flag() ?? true))
    }
    var indexes: [FieldName] = []
    for index in try object["indexes"]?.elements() ?? [] { indexes.append(FieldName(try index.text())) }
    self.init(type, references: references, indexes: indexes)
  }
}

extension DeclaredValue {
  /// Checks the types of a declaration together, and puts them in order.
  ///
  /// The value is the object whose members are the types.
  ///
  /// - Throws: `invalidConfiguration` for no type, an invalid name, a cycle, and a reference to an
  ///   undeclared type.
  package func schema(of entities: [Entity]) throws(SyncError) -> SyncSchema {
    guard !entities.isEmpty else { throw failure("declares no type.") }
    let names = entities.map(\.type.rawValue)
    for entity in entities {
      for reference in entity.references where !names.contains(reference.target.rawValue) {
        let hint = Spelling.nearest(to: reference.target.rawValue, among: names, "declared are")
        throw failure(
          "declares that \(entity.type).\(reference.field) refers to \"\(reference.target)\", which is not declared; \(hint)"
        )
      }
    }
    do {
      return try SyncSchema(entities)
    } catch {
      throw failure("is not a valid schema. \(error.message)")
    }
  }
}
