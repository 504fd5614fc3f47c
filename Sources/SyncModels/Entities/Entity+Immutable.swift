import SyncJSON

// Fields that keep the earliest value they ever had, such as `createdAt`.
extension Entity {
  /// A payload with each immutable field as the earliest of what it holds itself and what is known of the record.
  ///
  /// The payload is unaltered, byte for byte, where its own values are the earliest. The order of values is total, so that payloads may be taken in any order: of
  /// two dates the earlier instant, of two numbers the smaller; a date is before a number, and a number before anything else, which compares by its bytes.
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

/// A value of an immutable field, in the order in which the first one stays.
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
