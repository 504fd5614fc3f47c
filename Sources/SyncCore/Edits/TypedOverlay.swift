import SyncJSON
import SyncModels

/// Lays a typed value over a stored record, at every level of nesting.
///
/// Members that the type does not know stay unchanged. Members of objects are taken one by one;
/// arrays and scalars are taken whole.
struct TypedOverlay {
  /// How the type's own members are determined.
  enum Source {
    /// By encoding the stored record as the type. What the new value has is written.
    case asStored
    /// By encoding the record as it was read. What the new value has changed is written.
    case asRead
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
      if own.hasSameValue(as: new, for: field) {
        if source == .asRead || source == .asStored && stored.spells(field, of: new) { continue }
      }
      stored[field] = merged(field, new, stored)
    }
  }

  /// Whether a member that the new value changes is not as it was read.
  ///
  /// - Parameters:
  ///   - origin: The stored object as it was read.
  ///   - stored: The stored object now.
  func meets(_ stored: FieldMap, since origin: FieldMap, changing new: FieldMap) -> Bool {
    clashes(of: new, with: stored, since: origin).contains { field in
      guard let inner = Clash(field, own, new, stored, origin) else { return true }
      return TypedOverlay(inner.own, source).meets(inner.stored, since: inner.origin, changing: inner.new)
    }
  }

  /// Takes those objects of a new value whole whose members and the stored ones form no value.
  ///
  /// The members of two values need not form one of the type: an enumeration has the member of one case,
  /// which perhaps only a later version of the app knows. An object is one in question if it has a member
  /// of which ``meets(_:since:changing:)`` tells, or if nothing is known of how it was read, and it has no
  /// member in common with the stored one.
  ///
  /// - Parameters:
  ///   - origin: The stored object as it was read, if that is known.
  ///   - stored: The stored object now.
  ///   - laid: The stored object with the new value's members over it.
  ///   - isReadable: Whether a record with these members decodes as the type.
  func takeWhole(
    _ new: FieldMap, since origin: FieldMap?, _ stored: FieldMap, in laid: inout FieldMap,
    unless isReadable: (FieldMap) -> Bool
  ) {
    let paths =
      origin.map { clashingObjects(of: new, with: stored, since: $0) } ?? disjointObjects(new, stored)
    let merged = laid
    for path in paths { laid[path] = new[path] }
    let whole = laid
    for path in paths {
      // Of a case that is unknown here, only the stored object tells: beside a known one it is passed over.
      let isValue = [stored, merged].allSatisfy { source in
        var probe = whole
        probe[path] = source[path]
        return isReadable(probe)
      }
      if isValue { laid[path] = merged[path] }
    }
  }

  /// The innermost objects with members that both the new value and others have changed.
  private func clashingObjects(
    of new: FieldMap, with stored: FieldMap, since origin: FieldMap
  ) -> [[FieldName]] {
    clashes(of: new, with: stored, since: origin).flatMap { field -> [[FieldName]] in
      guard let inner = Clash(field, own, new, stored, origin) else { return [] }
      let overlay = TypedOverlay(inner.own, source)
      let fields = overlay.clashes(of: inner.new, with: inner.stored, since: inner.origin)
      if fields.contains(where: { Clash($0, inner.own, inner.new, inner.stored, inner.origin) == nil }) {
        return [[field]]
      }
      let deeper = overlay.clashingObjects(of: inner.new, with: inner.stored, since: inner.origin)
      return deeper.map { [field] + $0 }
    }
  }

  /// The outermost objects that have no member in common with their stored counterpart.
  private func disjointObjects(_ new: FieldMap, _ stored: FieldMap) -> [[FieldName]] {
    new.fields.flatMap { field -> [[FieldName]] in
      guard let inner = new.object(field), let kept = stored.object(field) else { return [] }
      if inner.fields.isEmpty { return [] }
      if inner.fields.allSatisfy({ kept[$0] == nil }) { return [[field]] }
      return disjointObjects(inner, kept).map { [field] + $0 }
    }
  }

  /// The members that both the new value and others have changed since it was read.
  private func clashes(of new: FieldMap, with stored: FieldMap, since origin: FieldMap) -> [FieldName] {
    (own.fields + new.fields.filter { own[$0] == nil }).filter { field in
      !own.hasSameValue(as: new, for: field) && !origin.hasSameValue(as: stored, for: field)
    }
  }

  /// A member that is an object on all sides, so that its own members are compared.
  private struct Clash {
    let own, new, stored, origin: FieldMap

    init?(_ field: FieldName, _ own: FieldMap, _ new: FieldMap, _ stored: FieldMap, _ origin: FieldMap) {
      guard let own = own.object(field), let new = new.object(field), let stored = stored.object(field),
        let origin = origin.object(field)
      else { return nil }
      (self.own, self.new, self.stored, self.origin) = (own, new, stored, origin)
    }
  }

  private func merged(_ field: FieldName, _ new: FieldMap, _ stored: FieldMap) -> ArraySlice<UInt8>? {
    guard let inner = new.object(field), var kept = stored.object(field) else { return new[field] }
    // Without a counterpart, no nested member is known to be the type's.
    let own = own.object(field) ?? FieldMap()
    TypedOverlay(own, source).lay(inner, over: &kept)
    return kept.payload.bytes
  }
}

extension FieldMap {
  /// The members of a member that is an object; `nil` for another value.
  fileprivate func object(_ field: FieldName) -> FieldMap? {
    guard let bytes = self[field], bytes.first == UInt8(ascii: "{") else { return nil }
    return try? FieldMap(Payload(bytes))
  }

  /// The member at a path through nested objects.
  fileprivate subscript(path: [FieldName]) -> ArraySlice<UInt8>? {
    get {
      guard let first = path.first else { return nil }
      return path.count == 1 ? self[first] : object(first)?[Array(path.dropFirst())]
    }
    set {
      guard let first = path.first else { return }
      guard path.count > 1 else { return self[first] = newValue }
      guard var inner = object(first) else { return }
      inner[Array(path.dropFirst())] = newValue
      self[first] = inner.payload.bytes
    }
  }

  /// Whether a member is another spelling of the same value as another map's.
  ///
  /// A text is another spelling if both are of one instant, one number, one UUID or the same bytes
  /// in base64.
  fileprivate func spells(_ field: FieldName, of other: FieldMap) -> Bool {
    if hasSameValue(as: other, for: field) { return self[field] != nil }
    guard let ours = self[field]?.text, let theirs = other[field]?.text else { return false }
    if let instant = Timestamp(iso8601: ours) { return instant == Timestamp(iso8601: theirs) }
    if let number = ours.canonicalNumber { return number == theirs.canonicalNumber }
    return ours.isUUID && ours.lowercased() == theirs.lowercased() || ours.plainBase64 == theirs.plainBase64
  }
}

extension ArraySlice<UInt8> {
  /// The text of a JSON string; `nil` for another value.
  fileprivate var text: String? { (try? JSONValueSlice(checking: self))?.string() }
}

extension String {
  /// The canonical form of the JSON number that the text spells.
  fileprivate var canonicalNumber: [UInt8]? {
    guard let value = try? JSONValueSlice(checking: Array(utf8)[...]), value.kind == .number else {
      return nil
    }
    return JSONScanner.canonical(value.bytes)
  }

  /// The text with the letters of the base64 that is not made for addresses, and without padding.
  fileprivate var plainBase64: [UInt8] {
    utf8.compactMap { byte in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      case UInt8(ascii: "="): nil
      default: byte
      }
    }
  }
}
