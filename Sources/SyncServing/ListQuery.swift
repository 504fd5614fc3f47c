import SyncJSON
import SyncModels

/// What a list is asked for: filters, order and page.
struct ListQuery {
  /// The timestamps between which records lie.
  private(set) var span = Ledger.Span()
  /// Whether timestamps were asked for, so that tombstones belong to the list.
  private var isDelta = false
  /// Where the delta begins, if it has `_since`.
  private(set) var since: Int64?
  /// The keys, if they are named.
  private(set) var keys: [String]?
  /// Every other filter; fields may be `id` and `last_modified` too.
  private(set) var condition: Condition?
  /// Patterns that texts match, by field: the parts between the asterisks.
  private var patterns: [(field: FieldName, parts: [[UInt8]])] = []
  /// Whether tombstones are asked for, or everything but them.
  private var deleted: Bool?
  private(set) var order: [Query.SortField] = [.descending(lastModified)]
  private(set) var limit: Int?
  private(set) var token: String?
  private(set) var fields: Set<String>?

  static let id = FieldName("id")
  static let lastModified = FieldName("last_modified")

  /// Whether anything but timestamps filters: then tombstones are hidden.
  var hasFilter: Bool { keys != nil || condition != nil || !patterns.isEmpty }
  var listsTombstones: Bool { isDelta && !hasFilter && deleted != false }
  var listsRecords: Bool { deleted != true }
  /// Whether the list is in the order of timestamps; `nil` if it is not.
  var descends: Bool? { order[0].field == Self.lastModified ? order[0].isDescending : nil }

  init(_ pairs: [(name: String, value: String)]) throws(SyncError) {
    var conditions: [Condition] = []
    for (name, value) in pairs {
      switch name {
      case "_since":
        try bound(name, value, "gt_")
        since = span.after
      case "_before", "_to": try bound(name, value, "lt_")
      case "_limit":
        guard let number = Int(value), number >= 0 else {
          throw Refusal.parameter(name, "should be a number of records")
        }
        limit = number == 0 ? nil : number
      case "_token": token = value
      case "_fields": fields = Set(value.split(separator: ",").map(String.init))
      case "_sort": order = try Self.order(value)
      case "deleted":
        guard case .boolean(let isAskedFor) = Self.value(value) else {
          throw Refusal.parameter(name, "should be true or false")
        }
        deleted = isAskedFor
      // Kinto ignores what it does not know of its own.
      case _ where name.hasPrefix("_"): break
      default: if let condition = try filter(name, value) { conditions.append(condition) }
      }
    }
    condition = conditions.isEmpty ? nil : .all(conditions)
  }

  private static func order(_ text: String) throws(SyncError) -> [Query.SortField] {
    var order: [Query.SortField] = []
    for part in text.split(separator: ",") {
      let name = String(part.drop { "-+ ".contains($0) })
      guard !name.isEmpty else { throw Refusal.parameter("_sort", "a field has no name") }
      order.append(Query.SortField(FieldName(name), descending: part.hasPrefix("-")))
    }
    return order.isEmpty ? [.descending(lastModified)] : order
  }

  static func timestamp(_ name: String, _ value: String) throws(SyncError) -> Int64 {
    guard let time = Int64(text(value)), time >= 0, time < 1 << 53 else {
      throw Refusal.parameter(name, "Invalid value for timestamp")
    }
    return time
  }

  /// Bounds the timestamps of the list.
  private mutating func bound(_ name: String, _ text: String, _ comparison: String) throws(SyncError) {
    let time = try Self.timestamp(name, text)
    isDelta = true
    switch comparison {
    case "gt_": span.after = max(span.after, time)
    case "min_": span.after = max(span.after, time - 1)
    case "lt_": span.before = min(span.before, time)
    case "max_": span.before = min(span.before, time + 1)
    default: (span.after, span.before) = (max(span.after, time - 1), min(span.before, time + 1))
    }
  }

  func hasTime(_ stamp: Int64) -> Bool { stamp > span.after && stamp < span.before }

  /// Reads a filter; `nil` if it went elsewhere than into a condition.
  private mutating func filter(_ name: String, _ text: String) throws(SyncError) -> Condition? {
    let comparisons = ["min_", "max_", "gt_", "lt_", "eq_", "not_", "in_", "exclude_", "like_", "has_"]
    let comparison = comparisons.first { name.hasPrefix($0) && name != $0 } ?? ""
    let field = FieldName(String(name.dropFirst(comparison.count)))
    if field == Self.lastModified {
      switch comparison {
      case "not_", "in_", "exclude_": isDelta = true
      case "like_", "has_": break
      default:
        try bound(name, text, comparison)
        return nil
      }
    }
    let value = Self.value(text)
    switch comparison {
    case "min_": return .atLeast(field, value)
    case "max_": return .atMost(field, value)
    case "gt_": return .greater(field, value)
    case "lt_": return .less(field, value)
    case "has_":
      let lacks = Condition.equal(field, .null)
      return value == false || value == 0 ? lacks : .not(lacks)
    case "like_":
      let pattern = Self.text(text).lowercased()
      let parts = (pattern.contains("*") ? pattern : "*\(pattern)*").utf8
        .split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
      patterns.append((field, parts.map(Array.init)))
      return nil
    default:
      let texts = ["in_", "exclude_"].contains(comparison) ? Self.elements(text) : [text]
      let isExcluded = ["not_", "exclude_"].contains(comparison)
      if field == Self.id, !isExcluded {
        keys = texts.map(Self.text).distinctByUTF8()
        return nil
      }
      let values = texts.map { field == Self.id ? .string(Self.text($0)) : Self.value($0) }
      return isExcluded ? .not(.isIn(field, values)) : .isIn(field, values)
    }
  }

  /// A value as Kinto reads it: JSON, or else the text itself.
  private static func value(_ text: String) -> FieldValue {
    let json = try? JSONValueSlice(checking: Array(text.utf8)[...])
    let value = json.map { FieldValue($0) } ?? .composite
    return value == .composite ? .string(text) : value
  }

  private static func text(_ text: String) -> String {
    if text.hasPrefix("\""), case .string(let inner) = value(text) { inner } else { text }
  }

  /// The elements of a list; commas within quotes belong to an element.
  private static func elements(_ text: String) -> [String] {
    var isQuoted = false
    let elements = text.unicodeScalars.split(omittingEmptySubsequences: false) { character in
      if character == "\"" { isQuoted.toggle() }
      return character == "," && !isQuoted
    }
    return elements.map { String($0) }
  }

  /// Whether a record passes the filters, beside timestamps and keys.
  func selects(_ item: Exchange.Item) -> Bool {
    condition?.isSatisfied(by: item.value) ?? true
      && patterns.allSatisfy { field, parts in
        guard case .string(let text) = item.value(of: field) else { return false }
        return Self.matches(Array(text.lowercased().utf8), parts)
      }
  }

  /// Whether a text has the parts of a pattern, in order: the first at its start, the last at its end.
  private static func matches(_ text: [UInt8], _ parts: [[UInt8]]) -> Bool {
    guard let first = parts.first, let last = parts.last, text.starts(with: first) else { return false }
    var rest = text.dropFirst(first.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let found = rest.firstRange(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return rest.count >= last.count && rest.suffix(last.count) == last[...]
  }
}
