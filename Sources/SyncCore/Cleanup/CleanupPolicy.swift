public import SyncModels

/// What a clean-up hides and forgets.
///
/// ```swift
/// CleanupPolicy([.hide("games", olderThan: .seconds(365 * 86_400), by: .date("date"))])
/// ```
public struct CleanupPolicy: Sendable {
  /// Which records are hidden.
  public var rules: [Rule]
  /// How long settled conflicts are kept; `nil` for ever.
  public var keepsConflicts: Duration?
  /// How long the last sighting of a throttled record is kept; `nil` for ever.
  public var keepsSightings: Duration?
  /// How many records a transaction takes up, 1 or more.
  public var recordsAtOnce: Int

  /// Describes a clean-up; by default nothing is hidden, and conflicts and sightings are kept for thirty days.
  public init(
    _ rules: [Rule] = [], keepsConflicts: Duration? = .seconds(30 * 86_400),
    keepsSightings: Duration? = .seconds(30 * 86_400), recordsAtOnce: Int = 400
  ) {
    self.rules = rules
    self.keepsConflicts = keepsConflicts
    self.keepsSightings = keepsSightings
    self.recordsAtOnce = recordsAtOnce
  }

  /// Which records of a type are hidden.
  public struct Rule: Hashable, Sendable {
    /// The type.
    public var type: RecordType
    var selection: Selection

    enum Selection: Hashable, Sendable {
      case matching(Condition)
      case olderThan(Duration, Age)
    }

    /// Hides the records that satisfy a condition.
    public static func hide(_ type: RecordType, where condition: Condition) -> Rule {
      Rule(type: type, selection: .matching(condition))
    }

    /// Hides the records that are older than an age.
    public static func hide(_ type: RecordType, olderThan age: Duration, by measure: Age) -> Rule {
      Rule(type: type, selection: .olderThan(age, measure))
    }
  }

  /// What a record's age is counted from; one that does not say has none, and stays.
  public enum Age: Hashable, Sendable {
    /// When the remote last modified it; all records of the type are read.
    case modification
    /// A field with a date, such as `2026-04-01` or `2026-04-01T18:00:00Z`, to the day, in UTC.
    case date(FieldName)
    /// A field with a number of seconds since 1970.
    case seconds(FieldName)
    /// A field with a number of milliseconds since 1970.
    case milliseconds(FieldName)
  }
}

extension CleanupPolicy.Rule {
  /// Selects what is old enough, as far as the store can tell by itself.
  func condition(at now: Timestamp) -> Condition? {
    switch selection {
    case .matching(let condition): return condition
    case .olderThan(_, .modification): return nil
    case .olderThan(let age, .date(let field)): return .less(field, .string((now - age).date))
    case .olderThan(let age, .seconds(let field)):
      return .less(field, .double(Double((now - age).microseconds) / 1e6))
    case .olderThan(let age, .milliseconds(let field)):
      return .less(field, .double(Double((now - age).microseconds) / 1e3))
    }
  }

  /// Whether a record that the store selected is old enough.
  func covers(_ record: Record, at now: Timestamp) -> Bool {
    guard case .olderThan(let age, .modification) = selection else { return true }
    return record.version != .unversioned && record.version.modifiedAt < now - age
  }
}

extension Timestamp {
  /// The day in UTC, as in `2026-04-01`.
  var date: String {
    // Days counted from 0000-03-01, so that a leap day is a year's last (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    var days = microseconds / 86_400_000_000
    if microseconds % 86_400_000_000 < 0 { days -= 1 }
    days += 719_468
    let era = (days >= 0 ? days : days - 146_096) / 146_097
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shifted + 2) / 5 + 1
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
