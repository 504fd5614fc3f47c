/// A wish to be run in the background.
public struct BackgroundRequest: Hashable, Sendable, Codable {
  /// What for.
  public var kind: Kind
  /// Not before then.
  public var earliest: Begin
  /// Whether it is pointless without the network.
  public var needsNetwork: Bool
  /// Whether it waits for external power, because it would drain a battery.
  public var needsExternalPower: Bool

  /// Describes a request.
  public init(
    _ kind: Kind, earliest: Begin, needsNetwork: Bool = false, needsExternalPower: Bool = false
  ) {
    self.kind = kind
    self.earliest = earliest
    self.needsNetwork = needsNetwork
    self.needsExternalPower = needsExternalPower
  }

  /// Reads a request; one written before requests told of power needs none.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    kind = try container.decode(Kind.self, forKey: .kind)
    earliest = try container.decode(Begin.self, forKey: .earliest)
    needsNetwork = try container.decode(Bool.self, forKey: .needsNetwork)
    needsExternalPower = try container.decodeIfPresent(Bool.self, forKey: .needsExternalPower) ?? false
  }

  /// What is to be run. Systems give the two kinds different amounts of time.
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
    /// The next time that the clock on the wall shows this, in the app's time zone, later than the moment of submitting.
    ///
    /// On a day whose clocks are put forward over it, it is the first instant after the gap; where clocks are put
    /// back and show it twice, it is the first of the two.
    case next(TimeOfDay)
  }
}

/// A time as the clock on the wall shows it, of whatever day.
public struct TimeOfDay: Hashable, Sendable, Codable, Comparable {
  /// 0 to 23.
  public var hour: Int
  /// 0 to 59.
  public var minute: Int

  /// Describes a time of day; numbers past either end count as that end.
  public init(hour: Int, minute: Int = 0) {
    self.hour = min(max(hour, 0), 23)
    self.minute = min(max(minute, 0), 59)
  }

  /// Whether one time of day is earlier than another.
  public static func < (a: TimeOfDay, b: TimeOfDay) -> Bool { (a.hour, a.minute) < (b.hour, b.minute) }
}
