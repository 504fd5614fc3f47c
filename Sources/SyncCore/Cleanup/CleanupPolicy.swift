public import SyncModels

/// What a clean-up hides and forgets.
///
/// A policy is the whole answer to what is hidden: a clean-up also shows again what an earlier one hid and none of these rules hides.
///
/// ```swift
/// CleanupPolicy([.hide("games", olderThan: .seconds(365 * 86_400), by: .date("date"))])
/// ```
public struct CleanupPolicy: Sendable {
  /// Which records are hidden: those that any of the rules selects, and no others.
  public var rules: [Rule]
  /// The members of records whose values are removed, by an edit, once they have ended.
  public var expiring: [ExpiringMember]
  /// How long settled conflicts are kept; `nil` for ever.
  public var keepsConflicts: Duration?
  /// How long the last sighting of a throttled record is kept; `nil` for ever.
  public var keepsSightings: Duration?
  /// How many records a transaction takes up, 1 or more.
  public var recordsAtOnce: Int

  /// Describes a clean-up; by default nothing is hidden, and conflicts and sightings are kept for thirty days.
  public init(
    _ rules: [Rule] = [], expiring: [ExpiringMember] = [],
    keepsConflicts: Duration? = .seconds(30 * 86_400),
    keepsSightings: Duration? = .seconds(30 * 86_400), recordsAtOnce: Int = 400
  ) {
    self.rules = rules
    self.expiring = expiring
    self.keepsConflicts = keepsConflicts
    self.keepsSightings = keepsSightings
    self.recordsAtOnce = recordsAtOnce
  }

  /// A member of the records of a type that ends by itself; see ``ExpiringMember/purge``.
  public struct ExpiringMember: Hashable, Sendable {
    /// The type.
    public var type: RecordType
    /// The member's name.
    public var name: FieldName

    /// Names a member.
    public init(type: RecordType, name: FieldName) {
      self.type = type
      self.name = name
    }
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

  /// What a record's age is counted from; a record that does not state it has no age, and stays.
  public enum Age: Hashable, Sendable {
    /// When the remote last modified it; all records of the type are read. A modification time of zero or before 1970 states none.
    case modification
    /// A field with a date, such as `2026-04-01` or `2026-04-01T18:00:00Z`, to the day, in UTC. Any other form states none: a year with a sign or of more than
    /// four digits, a day that the calendar does not have, `20260401`, a week.
    case date(FieldName)
    /// A field with a number of seconds since 1970; zero states none.
    case seconds(FieldName)
    /// A field with a number of milliseconds since 1970; zero states none.
    case milliseconds(FieldName)
  }
}
