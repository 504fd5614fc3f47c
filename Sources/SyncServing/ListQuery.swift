import SyncJSON
import SyncModels

/// What a list is asked for: filters, order and page.
struct ListQuery {
  /// The timestamps between which records lie, both exclusive.
  var after: Int64 = 0
  var before: Int64 = .max
  /// Whether timestamps were asked for, so that tombstones belong to the list.
  var isDelta = false
  /// Whether the delta begins with `_since`.
  var since: Int64?
  /// The keys, if they are named.
  var keys: [String]?
  /// Every other filter; fields may be `id` and `last_modified` too.
  var condition: Condition?
  /// Patterns that texts match, by field.
  var patterns: [(field: FieldName, parts: [String])] = []
  /// Whether tombstones are asked for, or everything but them.
  var deleted: Bool?
  var order: [Query.SortField] = []
  var limit: Int?
  var token: String?
  var fields: Set<String>?
  /// The pairs but the token's, for the address of the next page.
  private(set) var pairs: [(name: String, value: String)] = []

  static let id = FieldName("id")
  static let lastModified = FieldName("last_modified")

  /// Whether anything but timestamps filters: then tombstones are hidden.
  var hasFilter: Bool { keys != nil || condition != nil || !patterns.isEmpty }
  var listsTombstones: Bool { isDelta && !hasFilter && deleted != false }
  var listsRecords: Bool { deleted != true }
  /// Whether the list is in the order of timestamps; `nil` if it is not.
  var descends: Bool? {
    guard let first = order.first else { return true }
    return first.field == Self.lastModified ? first.isDescending : nil
  }

  init(_ pairs: [(name: String, value: String)]) throws(SyncError) {
    var conditions: [Condition] = []
    for (name, value) in pairs {
      if name != "_token" { self.pairs.append((name, value)) }
      switch name {
      case "_since":
        let time = try Self.timestamp(name, value)
        (since, isDelta, after) = (time, true, max(after, time))
      case "_before", "_to":
        (isDelta, before) = (true, min(before, try Self.timestamp(name, value)))
      case "_limit":
        guard let number = Int(value), number >= 0 else {
          throw Refusal.parameter(name, "should be a number of records").error
        }
        limit = number == 0 ? nil : number
      case "_token": token = value
      case "_fields": fields = Set(value.split(separator: ",").map(String.init))
      case "_sort": order = try Self.order(value)
      default:
        // Kinto ignores what it does not know of its own.
        if name.hasPrefix("_") { continue }
        if let condition = try filter(name, value) { conditions.append(condition) }
      }
    }
    condition = conditions.isEmpty ? nil : conditions.count == 1 ? conditions[0] : .all(conditions)
  }

  private static func order(_ text: String) throws(SyncError) -> [Query.SortField] {
    var order: [Query.SortField] = []
    for part in text.split(separator: ",") {
      let descends = part.hasPrefix("-")
      let name = String(part.drop { $0 == "-" || $0 == "+" || $0 == " " })
      guard !name.isEmpty else { throw Refusal.parameter("_sort", "a field has no name").error }
      order.append(Query.SortField(FieldName(name), descending: descends))
    }
    return order
  }

  static func timestamp(_ name: String, _ text: String) throws(SyncError) -> Int64 {
    let bare =
      text.hasPrefix("\"") && text.hasSuffix("\"") && text.utf8.count >= 2
      ? text.dropFirst().dropLast() : text[...]
    guard let time = Int64(bare), time >= 0, time < 1 << 53 else {
      throw Refusal.parameter(name, "Invalid value for timestamp").error
    }
    return time
  }

  /// Reads a filter; `nil` if it went elsewhere than into a condition.
  private mutating func filter(_ name: String, _ text: String) throws(SyncError) -> Condition? {
    let operators = ["min_", "max_", "gt_", "lt_", "eq_", "not_", "in_", "exclude_", "like_", "has_"]
    let found = operators.first { name.hasPrefix($0) && name.utf8.count > $0.utf8.count } ?? ""
    let field = FieldName(String(name.dropFirst(found.count)))
    if field == Self.lastModified, !["has_", "like_"].contains(found) { isDelta = true }
    if name == "deleted" {
      guard case .boolean(let isAskedFor) = Self.value(text) else {
        throw Refusal.parameter(name, "should be true or false").error
      }
      deleted = isAskedFor
      return nil
    }
    if field == Self.lastModified, ["min_", "max_", "gt_", "lt_", "eq_", ""].contains(found) {
      let time = try Self.timestamp(name, text)
      if ["gt_", "min_", "eq_", ""].contains(found) { after = max(after, found == "gt_" ? time : time - 1) }
      if ["lt_", "max_", "eq_", ""].contains(found) {
        before = min(before, found == "lt_" ? time : time + 1)
      }
      return nil
    }
    let value = Self.value(text)
    switch found {
    case "", "eq_":
      if field == Self.id {
        keys = [Self.text(text)]
        return nil
      }
      return .equal(field, value)
    case "not_": return .not(.equal(field, field == Self.id ? .string(Self.text(text)) : value))
    case "min_": return .atLeast(field, value)
    case "max_": return .atMost(field, value)
    case "gt_": return .greater(field, value)
    case "lt_": return .less(field, value)
    case "in_", "exclude_":
      let parts = Self.elements(text)
      if field == Self.id {
        let texts = parts.map(Self.text)
        if found == "in_" {
          keys = texts.distinctByUTF8()
          return nil
        }
        return .not(.isIn(field, texts.map { .string($0) }))
      }
      let condition = Condition.isIn(field, parts.map(Self.value))
      return found == "in_" ? condition : .not(condition)
    case "has_":
      let lacks = Condition.equal(field, .null)
      return value == false || value == 0 ? lacks : .not(lacks)
    default:
      let pattern = Self.text(text).lowercased()
      let whole = pattern.contains("*") ? pattern : "*\(pattern)*"
      patterns.append((field, whole.split(separator: "*", omittingEmptySubsequences: false).map(String.init)))
      return nil
    }
  }

  /// A value as Kinto reads it: JSON, or else the text itself.
  private static func value(_ text: String) -> FieldValue {
    let json = Payload(Array("{\"v\":\(text)}".utf8))
    if let value = try? json.values(of: ["v"]).first, value != .composite { return value }
    return .string(text)
  }

  private static func text(_ text: String) -> String {
    if text.hasPrefix("\""), case .string(let inner) = value(text) { inner } else { text }
  }

  /// The elements of a list; commas within quotes belong to an element.
  private static func elements(_ text: String) -> [String] {
    var elements = [""]
    var isQuoted = false
    for character in text.unicodeScalars {
      if character == "\"" { isQuoted.toggle() }
      if character == ",", !isQuoted {
        elements.append("")
      } else {
        elements[elements.count - 1].unicodeScalars.append(character)
      }
    }
    return elements
  }

  /// Whether a record passes the filters, beside timestamps.
  func selects(_ record: Record, stamp: Int64, _ entity: Entity) -> Bool {
    if let keys, !keys.contains(where: { $0.isSameUTF8(as: record.id.key) }) { return false }
    guard condition != nil || !patterns.isEmpty else { return true }
    let value = Self.reader(
      of: record, stamp: stamp, entity,
      condition?.fields.union(patterns.map(\.field)) ?? Set(patterns.map(\.field)))
    return condition?.isSatisfied(by: value) ?? true
      && patterns.allSatisfy { pattern in
        guard case .string(let text) = value(pattern.field) else { return false }
        return Self.matches(text.lowercased(), pattern.parts)
      }
  }

  /// The values of some of a record's fields.
  static func reader(
    of record: Record, stamp: Int64, _ entity: Entity, _ names: Set<FieldName>
  ) -> (FieldName) -> FieldValue {
    let names = Array(names)
    let values = (try? record.payload.values(of: names)) ?? []
    return { name in
      if name == id { return .string(record.id.key) }
      if name == lastModified { return .integer(stamp) }
      return names.firstIndex(of: name).flatMap { $0 < values.count ? values[$0] : nil } ?? .null
    }
  }

  private static func matches(_ text: String, _ parts: [String]) -> Bool {
    guard let first = parts.first, let last = parts.last, parts.count > 1 else { return text == parts.first }
    var rest = Array(text.utf8)[...]
    guard rest.starts(with: first.utf8) else { return false }
    rest = rest.dropFirst(first.utf8.count)
    for part in parts.dropFirst().dropLast() {
      let wanted = Array(part.utf8)
      while !rest.starts(with: wanted) {
        guard rest.popFirst() != nil else { return false }
      }
      rest = rest.dropFirst(wanted.count)
    }
    return rest.count >= last.utf8.count && rest.suffix(last.utf8.count).elementsEqual(last.utf8)
  }
}
