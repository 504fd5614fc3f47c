#if CloudKit
  import SyncJSON

  /// The type of a field, as the service spells it. Unknown types are kept.
  public struct FieldType: RawRepresentable, Hashable, Sendable {
    /// The service's spelling, such as `TIMESTAMP` or `STRING_LIST`.
    public let rawValue: String

    /// Wraps a spelling.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A reference to another record.
    static let reference = FieldType(rawValue: "REFERENCE")
    /// A list of references.
    static let referenceList = FieldType(rawValue: "REFERENCE_LIST")

    /// The types of single values. Each has a list as well.
    private static let single = [
      "STRING", "INT64", "DOUBLE", "BYTES", "TIMESTAMP", "LOCATION", "REFERENCE", "ASSETID",
    ]
    /// Every type of the service's documentation.
    static let known = Set((single + single.map { "\($0)_LIST" }).map { FieldType(rawValue: $0) })

    /// The type that a plain JSON value tells by itself; otherwise `nil`.
    static func natural(of value: JSONValueSlice) -> FieldType? {
      switch value.kind {
      case .string: FieldType(rawValue: "STRING")
      case .number: FieldType(rawValue: value.integer() == nil ? "DOUBLE" : "INT64")
      case .true, .false: FieldType(rawValue: "INT64")
      case .array: naturalList(of: value)
      case .object, .null: nil
      }
    }

    private static func naturalList(of value: JSONValueSlice) -> FieldType? {
      var types: Set<FieldType?> = []
      // The contents of a checked value cannot fail.
      try? JSONScanner.elements(of: value.bytes, depthLimit: .max) { element throws(JSONError) in
        types.insert(element.kind == .array || element.bool() != nil ? nil : natural(of: element))
      }
      if types == [FieldType(rawValue: "INT64"), FieldType(rawValue: "DOUBLE")] {
        return FieldType(rawValue: "DOUBLE_LIST")
      }
      guard types.count == 1, let type = types.first ?? nil else { return nil }
      return FieldType(rawValue: "\(type.rawValue)_LIST")
    }

    /// Whether a value of this type can have a JSON kind. Of an unknown type any kind is possible.
    func allows(_ value: JSONValueSlice) -> Bool {
      guard Self.known.contains(self) else { return true }
      guard rawValue.hasSuffix("_LIST") else { return allowsElement(value) }
      guard value.kind == .array else { return false }
      let element = FieldType(rawValue: String(rawValue.dropLast("_LIST".count)))
      var isAllowed = true
      // The contents of a checked value cannot fail.
      try? JSONScanner.elements(of: value.bytes, depthLimit: .max) { part throws(JSONError) in
        if part.isNull || !element.allowsElement(part) { isAllowed = false }
      }
      return isAllowed
    }

    private func allowsElement(_ value: JSONValueSlice) -> Bool {
      switch rawValue {
      case "STRING", "BYTES": value.kind == .string
      case "INT64": value.integer() != nil
      case "DOUBLE": value.double()?.isFinite == true
      case "TIMESTAMP": value.kind == .number
      case "LOCATION", "REFERENCE", "ASSETID": value.kind == .object
      default: true
      }
    }
  }
#endif
