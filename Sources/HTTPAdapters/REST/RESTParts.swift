public import SyncJSON
public import SyncModels

extension RESTAPI {
  /// Which elements of a list are records of the type.
  public struct Filter: Hashable, Sendable {
    /// Where it is decided.
    public var pointer: JSONPointer
    /// What has to be there.
    public var test: Test

    /// What a value has to be.
    public enum Test: Hashable, Sendable {
      /// This text, number, true or false, as JSON.
      case equals(json: String)
      /// Anything but null, or else nothing or null.
      case exists(Bool)
    }

    /// Creates a filter.
    public init(_ pointer: JSONPointer, _ test: Test) {
      self.pointer = pointer
      self.test = test
    }

    /// Whether an element is a record of the type.
    func selects(_ element: ArraySlice<UInt8>) -> Bool {
      // What is no JSON is told as a malformed record.
      guard let value = try? JSONValueSlice(checking: element, depthLimit: .max) else { return true }
      let found = pointer.value(in: value)
      switch test {
      case .exists(let exists): return (found.map { !$0.isNull } ?? false) == exists
      case .equals(let json):
        return found.map { JSONScanner.canonical($0.bytes) == JSONScanner.canonical(Array(json.utf8)[...]) }
          ?? false
      }
    }
  }

  /// The request for a list, where it is not a GET.
  public struct ListRequest: Hashable, Sendable {
    /// The method. The request only reads, so it is repeated as freely as a GET.
    public var method: String
    /// The body, as JSON. Parameters that begin with a slash are put into it, at that place.
    public var body: [UInt8]

    /// Creates a request.
    public init(_ method: String = "POST", body: [UInt8] = []) {
      self.method = method
      self.body = body
    }
  }

  /// One list for each of some values.
  public struct Each: Hashable, Sendable {
    /// The name of the parameter, or of its mark in the path, as `league` in `games/{league}`.
    public var parameter: String
    /// The values, 1 or more.
    public var values: [String]

    /// Creates lists.
    public init(_ parameter: String, values: [String]) {
      self.parameter = parameter
      self.values = values
    }
  }

  /// A list under each record of another type.
  public struct Parent: Hashable, Sendable {
    /// The type of the parents.
    public var type: RecordType
    /// The name of the mark in the path, as `project` in `projects/{project}/tasks`.
    public var parameter: String
    /// The member with the parent's key, by which a record refers to it.
    ///
    /// Where a record has none, it is added, as text.
    public var member: FieldName
    /// Whether a record's key is unique within its parent alone. Then it has both keys.
    public var hasKeysWithin = false
    /// Whether a list is asked for only if its parent has changed since the last pass.
    ///
    /// For an API that gives a parent another version with each change of its list.
    public var followsChanges = false

    /// Creates lists.
    public init(_ type: RecordType, parameter: String, as member: FieldName) {
      self.type = type
      self.parameter = parameter
      self.member = member
    }
  }

  /// A span of time in which changes are asked for, one after another.
  public struct Window: Hashable, Sendable {
    /// The parameter for the end of the span.
    public var until: String
    /// The length of a span, with the overlap.
    public var length: Duration
    /// When the first listing begins; `nil` for one without a span.
    public var start: Timestamp?

    /// Creates a span.
    public init(until: String, length: Duration, start: Timestamp? = nil) {
      self.until = until
      self.length = length
      self.start = start
    }
  }
}

/// The part of a type's lists that a page belongs to.
struct RESTSegment: Hashable, Sendable {
  /// The value of ``RESTAPI/Each``.
  var each = 0
  /// The beginning of the span of time.
  var from: Timestamp?
  /// The key of the parent.
  var parent: String?
}

extension JSONPointer {
  /// The pointer before the first `*`, and those between and after the others; `nil` without any.
  var starred: (head: JSONPointer, rest: [JSONPointer])? {
    let names = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    guard names.contains("*") else { return nil }
    let parts = names.split(separator: "*", omittingEmptySubsequences: false)
      .map { $0.map { "/\($0)" }.joined() }
    let pointers = parts.compactMap { JSONPointer($0) }
    return (pointers[0], Array(pointers.dropFirst()))
  }

  /// The records that remain pointers lead to, in each element of a value on the way.
  static func spread(_ value: JSONValueSlice, _ rest: ArraySlice<JSONPointer>) -> [ArraySlice<UInt8>] {
    var found: [ArraySlice<UInt8>] = []
    func visit(_ element: JSONValueSlice) {
      guard let pointer = rest.first else { return found.append(element.bytes) }
      guard let inner = pointer.value(in: element), !inner.isNull else { return }
      let following = rest.dropFirst()
      if following.isEmpty, inner.kind != .array { return found.append(inner.bytes) }
      found += spread(inner, following)
    }
    switch value.kind {
    case .array:
      try? JSONScanner.elements(of: value.bytes, depthLimit: .max) { element throws(JSONError) in
        visit(element)
      }
    case .object:
      try? JSONScanner.members(of: value.bytes, depthLimit: .max) { member throws(JSONError) in
        visit(member.value)
      }
    default: break
    }
    return found
  }

  /// An object with a value at this place. Objects on the way are made where they are missing.
  func placing(_ value: [UInt8], in body: [UInt8]) -> [UInt8] {
    func place(_ names: ArraySlice<String>, _ bytes: ArraySlice<UInt8>?) -> ArraySlice<UInt8> {
      guard let name = names.first else { return value[...] }
      var members = bytes.flatMap { try? FieldMap(Payload($0)) } ?? FieldMap()
      members[FieldName(name)] = place(names.dropFirst(), members[FieldName(name)])
      return members.payload.bytes
    }
    return Array(place(names[...], body.isEmpty ? nil : body[...]))
  }
}

extension String {
  /// One part of a key of several parts: `~1` stands for a slash, `~0` for a tilde.
  var keyPart: String {
    replacing("~", with: "~0").replacing("/", with: "~1")
  }

  /// The parts of a key of several parts.
  var keyParts: [String] {
    split(separator: "/", omittingEmptySubsequences: false).map {
      String($0).replacing("~1", with: "/").replacing("~0", with: "~")
    }
  }
}
