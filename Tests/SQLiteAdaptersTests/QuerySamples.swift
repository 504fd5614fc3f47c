#if SQLite
  import InMemoryAdapters
  import SyncModels

  /// Special records and queries, with the expected results.
  enum QuerySamples {
    /// `d` is not declared.
    private static let fields: [FieldName] = ["a", "b", "code", "d", "ref"]

    private static let spellings = [
      "null", "0", "-0.0", "1", "1.0", "-1", "0.5", "5", "5.0", "9007199254740993", "9007199254740992.0",
      "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e300", "1e999", "-1e999",
      "\"\"",
      "\"a\"", "\"a\\u0000\"", "\"5\"", "\"é\"", "\"e\\u0301\"", "\"\\uffff\"", "\"😀\"", "true", "false",
      "[]",
      "{\"a\":1}",
    ]

    private static let values: [FieldValue] = [
      nil, 0, 1, -1, 0.5, 5, 5.0, 9_007_199_254_740_993, .double(9_007_199_254_740_992), .integer(.max),
      .integer(.min), .double(0x1p63), 1e300, .double(.infinity), .double(-.infinity), .double(.nan), "", "a",
      "a\u{0}", "5", "é", "e\u{301}", "\u{ffff}", "😀", true, false, .composite,
    ]

    private static func pick<Element>(_ all: [Element], _ random: inout SplitMix64) -> Element {
      all[Int.random(in: all.indices, using: &random)]
    }

    static func json(_ random: inout SplitMix64) -> String {
      var members: [String] = []
      for field in fields where Int.random(in: 0..<5, using: &random) > 0 {
        members.append("\"\(field)\":\(pick(spellings, &random))")
      }
      return "{\(members.joined(separator: ","))}"
    }

    static func query(_ random: inout SplitMix64) -> Query {
      let order = (0..<Int.random(in: 0...2, using: &random)).map { _ in
        Query.SortField(pick(fields, &random), descending: Bool.random(using: &random))
      }
      return Query(
        "games", where: Int.random(in: 0..<10, using: &random) == 0 ? nil : condition(&random, depth: 3),
        order: order, afterKey: order.isEmpty && Int.random(in: 0..<4, using: &random) == 0 ? "k2" : nil,
        limit: pick([nil, nil, 0, 3, 1000], &random))
    }

    private static func condition(_ random: inout SplitMix64, depth: Int) -> Condition {
      switch Int.random(in: 0..<(depth > 0 ? 7 : 4), using: &random) {
      case 0: return .equal(pick(fields, &random), pick(values, &random))
      case 1:
        let count = pick([0, 1, 3, 150], &random)
        return .isIn(pick(fields, &random), (0..<count).map { _ in pick(values, &random) })
      case 2, 3: return .within(pick(fields, &random), lower: bound(&random), upper: bound(&random))
      case 4: return .not(condition(&random, depth: depth - 1))
      case 5: return .all(conditions(&random, depth: depth - 1))
      default: return .any(conditions(&random, depth: depth - 1))
      }
    }

    private static func conditions(_ random: inout SplitMix64, depth: Int) -> [Condition] {
      (0..<Int.random(in: 0...3, using: &random)).map { _ in condition(&random, depth: depth) }
    }

    private static func bound(_ random: inout SplitMix64) -> Condition.Bound? {
      if Int.random(in: 0..<3, using: &random) == 0 { return nil }
      return Condition.Bound(pick(values, &random), isIncluded: Bool.random(using: &random))
    }

    /// A record with the values of all queried fields.
    struct Sample {
      let record: Record
      private let values: [FieldName: FieldValue]

      init(_ record: Record, of entity: Entity) throws {
        self.record = record
        let others = try record.payload.values(of: QuerySamples.fields)
        values = Dictionary(
          zip(QuerySamples.fields, others).map { name, value in
            (name, entity.fields.firstIndex(of: name).map { record.fields[$0] } ?? value)
          }, uniquingKeysWith: { first, _ in first })
      }

      func value(_ name: FieldName) -> FieldValue { values[name] ?? .null }
    }

    /// The expected result by definition, without a store and without the limit.
    static func answer(_ query: Query, among samples: [Sample]) -> [RecordID] {
      let selected = samples.filter { sample in
        if let key = query.afterKey, !key.utf8.lexicographicallyPrecedes(sample.record.id.key.utf8) {
          return false
        }
        return query.condition?.isSatisfied(by: sample.value) ?? true
      }
      return selected.sorted { a, b in
        for field in query.order {
          let (x, y) = (a.value(field.field), b.value(field.field))
          if x < y { return !field.isDescending }
          if y < x { return field.isDescending }
        }
        return a.record.id < b.record.id
      }.map(\.record.id)
    }
  }
#endif
