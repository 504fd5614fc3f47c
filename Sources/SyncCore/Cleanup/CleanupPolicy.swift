public import SyncModels

/// The records that a clean-up hides, and the data that it removes.
///
/// A policy defines all that is hidden: a clean-up also shows records again that an earlier one hid
/// and none of these rules hides.
///
/// ```swift
/// CleanupPolicy([.hide("games", olderThan: .seconds(365 * 86_400), by: .date("date"))])
/// ```
public struct CleanupPolicy: Sendable {
  /// The rules of hiding. Records that any rule selects are hidden, and no others.
  public var rules: [Rule]
  /// The members of records whose ended values are removed, by an edit.
  public var expiring: [Purge]
  /// How long resolved conflicts are kept; `nil` keeps all, and zero or less none.
  public var keepsConflicts: Duration?
  /// How long a throttled record's last sighting is kept; `nil` keeps all.
  ///
  /// Zero or less keeps none.
  public var keepsSightings: Duration?
  /// The number of records in a transaction, 1 or more.
  public var recordsAtOnce: Int

  /// Creates a policy.
  ///
  /// By default nothing is hidden, and conflicts and sightings are kept for thirty days.
  public init(
    _ rules: [Rule] = [], expiring: [Purge] = [],
    keepsConflicts: Duration? = .seconds(30 * 86_400),
    keepsSightings: Duration? = .seconds(30 * 86_400), recordsAtOnce: Int = 400
  ) {
    self.rules = rules
    self.expiring = expiring
    self.keepsConflicts = keepsConflicts
    self.keepsSightings = keepsSightings
    self.recordsAtOnce = recordsAtOnce
  }

  /// The removal of a member's ended values; see ``ExpiringMember/purge``.
  public struct Purge: Hashable, Sendable {
    /// The record type.
    public var type: RecordType
    /// The member's name.
    public var name: FieldName

    /// Names a member of a type's records.
    public init(type: RecordType, name: FieldName) {
      self.type = type
      self.name = name
    }
  }

  /// A selection of a type's records to hide.
  public struct Rule: Hashable, Sendable {
    /// The record type.
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
    ///
    /// An age of zero hides all whose time has passed. A negative one also hides those whose time
    /// comes within its length from now.
    public static func hide(_ type: RecordType, olderThan age: Duration, by measure: Age) -> Rule {
      Rule(type: type, selection: .olderThan(age, measure))
    }
  }

  /// The time from which a record's age is counted.
  ///
  /// A record without that time has no age, and stays.
  public enum Age: Hashable, Sendable {
    /// The remote's last modification.
    ///
    /// All records of the type are read. A modification time of zero or before 1970 counts as
    /// absent.
    case modification
    /// A field with a date, such as `2026-04-01` or `2026-04-01T18:00:00Z`, to the day, in UTC.
    ///
    /// Any other form counts as absent: a year with a sign or of more than four digits, a day that
    /// the calendar does not have, `20260401`, a week.
    case date(FieldName)
    /// A field with a number of seconds since 1970; zero counts as absent.
    case seconds(FieldName)
    /// A field with a number of milliseconds since 1970; zero counts as absent.
    case milliseconds(FieldName)
  }
}

/// The result of a clean-up.
public struct CleanupReport: Hashable, Sendable {
  /// The numbers of records that were hidden, by type.
  public var hidden: [RecordType: Int] = [:]
  /// The numbers of records that are no longer hidden, by type.
  ///
  /// Earlier clean-ups hid them and no rule hides them any more. They are shown again, or parked if
  /// a record that they refer to is gone.
  public var shown: [RecordType: Int] = [:]
  /// The numbers of records that a rule selected and that stay, by type.
  ///
  /// These are edited records, records that others refer to, and records with a withheld change.
  public var spared: [RecordType: Int] = [:]
  /// The number of ended values that were removed, beside records and in them.
  public var expired = 0
  /// The number of sightings that were removed as too old.
  public var sightings = 0
  /// Whether the clean-up stopped on request.
  ///
  /// All that it has done stays, and the next one does the rest.
  public var wasCancelled = false

  /// Creates the report of a clean-up that did nothing.
  public init() {}
}
