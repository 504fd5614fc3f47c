import SyncJSON

// Immutable fields keep the earliest value they ever had, such as `createdAt`.
extension Entity {
  /// A payload whose immutable fields have the earliest value known.
  ///
  /// Each field takes the earlier of the payload's own value and the known one. The payload stays
  /// unchanged, byte for byte, if its own values are the earliest. The order of values is total, so
  /// payloads may arrive in any order: of two dates the earlier instant comes first, of two numbers
  /// the smaller. A date precedes a number, and a number precedes any other value. Other values
  /// compare by their bytes.
  package func keepingImmutable(_ payload: Payload, _ known: Payload?) -> Payload {
    guard !immutable.isEmpty, let known, known != payload, let theirs = try? FieldMap(known),
      var map = try? FieldMap(payload)
    else { return payload }
    var isKept = true
    for field in immutable where !theirs.isLacking(field) {
      guard let value = theirs[field] else { continue }
      if let own = map[field], !map.isLacking(field), !ImmutableValue(value).precedes(ImmutableValue(own)) {
        continue
      }
      map[field] = value
      isKept = false
    }
    return isKept ? payload : map.payload
  }
}

/// A value of an immutable field. The least value in this order stays.
private struct ImmutableValue {
  private enum Kind: Int { case date, number, other }

  private let kind: Kind
  private var instant = Timestamp(microseconds: 0)
  private var number = FieldValue.null
  private let bytes: [UInt8]

  init(_ json: ArraySlice<UInt8>) {
    let value = (try? JSONValueSlice(checking: json)).map { FieldValue($0) } ?? .null
    switch value {
    case .integer, .double:
      kind = .number
      number = value
      bytes = []
    case .string(let text):
      let date = Timestamp(iso8601: text)
      kind = date == nil ? .other : .date
      instant = date ?? instant
      bytes = Array(text.utf8)
    default:
      kind = .other
      bytes = JSONScanner.compacted(json)
    }
  }

  func precedes(_ other: ImmutableValue) -> Bool {
    if kind != other.kind { return kind.rawValue < other.kind.rawValue }
    if kind == .number { return number < other.number }
    if instant != other.instant { return instant < other.instant }
    return bytes.lexicographicallyPrecedes(other.bytes)
  }
}
