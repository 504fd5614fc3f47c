import SyncModels

/// Lays a typed value over a stored record, at every level of nesting.
///
/// Members that the type does not know stay unchanged. Members of objects are taken one by one;
/// arrays and scalars are taken whole.
struct TypedOverlay {
  /// How the type's own members are determined.
  enum Source {
    /// By encoding the stored record as the type.
    case asStored
    /// By encoding the new value, with null for each optional that is nil.
    ///
    /// This is for a stored record that does not decode as the type.
    case named
  }

  private let own: FieldMap
  private let source: Source

  /// - Parameter own: The type's own members.
  init(_ own: FieldMap, _ source: Source) {
    self.own = own
    self.source = source
  }

  /// Lays an object's new members over its stored ones.
  func lay(_ new: FieldMap, over stored: inout FieldMap) {
    for field in own.fields where new[field] == nil { stored[field] = nil }
    for field in new.fields {
      if source == .asStored, own.hasSameValue(as: new, for: field) { continue }
      stored[field] = merged(field, new, stored)
    }
  }

  private func merged(_ field: FieldName, _ new: FieldMap, _ stored: FieldMap) -> ArraySlice<UInt8>? {
    guard let inner = new[field].flatMap(FieldMap.init(object:)),
      var kept = stored[field].flatMap(FieldMap.init(object:))
    else { return new[field] }
    // Without a counterpart, no nested member is known to be the type's.
    let own = own[field].flatMap(FieldMap.init(object:)) ?? FieldMap()
    TypedOverlay(own, source).lay(inner, over: &kept)
    return kept.payload.bytes
  }
}

extension FieldMap {
  /// Parses the members of a value that is an object.
  fileprivate init?(object bytes: ArraySlice<UInt8>) {
    guard bytes.first == UInt8(ascii: "{"), let map = try? FieldMap(Payload(bytes)) else { return nil }
    self = map
  }
}
