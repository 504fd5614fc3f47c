/// A request to be run in the background.
public struct BackgroundRequest: Hashable, Sendable, Codable {
  /// The kind of work.
  public var kind: Kind
  /// The earliest begin.
  public var earliest: Begin
  /// Whether the work needs the network.
  public var needsNetwork: Bool
  /// Whether the work waits for external power, because it would drain a battery.
  public var needsExternalPower: Bool

  /// Creates a request.
  public init(
    _ kind: Kind, earliest: Begin, needsNetwork: Bool = false, needsExternalPower: Bool = false
  ) {
    self.kind = kind
    self.earliest = earliest
    self.needsNetwork = needsNetwork
    self.needsExternalPower = needsExternalPower
  }

  /// Decodes a request. A request without a member for power does not need it.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    kind = try container.decode(Kind.self, forKey: .kind)
    earliest = try container.decode(Begin.self, forKey: .earliest)
    needsNetwork = try container.decode(Bool.self, forKey: .needsNetwork)
    needsExternalPower = try container.decodeIfPresent(Bool.self, forKey: .needsExternalPower) ?? false
  }

  /// A kind of background work. Systems give the two kinds different amounts of time.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// A short sync, so that the app has fresh data when it is opened.
    case refresh
    /// A sync and the clean-up after it, which may take minutes.
    case processing
  }

  /// The earliest begin of a request.
  public enum Begin: Hashable, Sendable, Codable {
    /// A while after the request is submitted.
    case after(Duration)
    /// The next occurrence of a time of day in the app's time zone.
    ///
    /// It is later than the moment of submitting. If the clocks are put forward over it that day,
    /// it is the first instant after the gap. If they are put back and show it twice, it is the
    /// first of the two.
    case next(TimeOfDay)
  }
}

/// A time of day as a wall clock shows it.
public struct TimeOfDay: Hashable, Sendable, Codable, Comparable {
  /// The hour, 0 to 23.
  public var hour: Int
  /// The minute, 0 to 59.
  public var minute: Int

  /// Creates a time of day; numbers past either end count as that end.
  public init(hour: Int, minute: Int = 0) {
    self.hour = min(max(hour, 0), 23)
    self.minute = min(max(minute, 0), 59)
  }

  /// Whether one time of day is earlier than another.
  public static func < (a: TimeOfDay, b: TimeOfDay) -> Bool { (a.hour, a.minute) < (b.hour, b.minute) }
}
