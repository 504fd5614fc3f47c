/// The time of an edit, in an order that is the same for all replicas.
///
/// Last-write-wins arithmetic compares stamps, never versions. A stamp is a hybrid logical time:
/// the wall clock's time, as far as it can be trusted, and a counter for edits of one instant
/// (Kulkarni et al., *Logical Physical Clocks*, 2014). Equal times order by the replica's name.
public struct EditStamp: Hashable, Sendable, Codable {
  /// The civil time, never before that of an earlier edit of the same replica.
  public var physical: Timestamp
  /// The counter that orders edits of one ``physical`` time.
  public var counter: UInt32
  /// The replica that made the edit; empty for a remote state, which loses ties.
  public var replica: String

  /// Creates a stamp.
  public init(physical: Timestamp, counter: UInt32 = 0, replica: String = "") {
    self.physical = physical
    self.counter = counter
    self.replica = replica
  }

  /// Whether two stamps are equal, the replica's name byte for byte.
  public static func == (a: EditStamp, b: EditStamp) -> Bool {
    a.physical == b.physical && a.counter == b.counter && a.replica.isSameUTF8(as: b.replica)
  }
}

extension EditStamp: Comparable {
  /// Orders by time, then by counter, then by replica. The order is total, and the same everywhere.
  public static func < (a: EditStamp, b: EditStamp) -> Bool {
    if a.physical != b.physical { return a.physical < b.physical }
    if a.counter != b.counter { return a.counter < b.counter }
    return a.replica.precedesByUTF8(b.replica)
  }
}

extension EditStamp: LosslessStringConvertible {
  /// The stamp as entities keep it in a field: `<microseconds>.<counter>@<replica>`.
  public var description: String {
    var name = NameBytes(capacity: replica.utf8.count + 32)
    write(to: &name)
    return name.text
  }

  /// Appends the description.
  func write(to name: inout NameBytes) {
    name.append(physical.microseconds)
    name.append(mark: ".")
    name.append(Int64(counter))
    name.append(mark: "@")
    name.append(replica)
  }

  /// Parses a stamp's description. A bare number of microseconds is a stamp without replica.
  public init?(_ description: String) {
    let halves = description.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    guard let time = halves.first else { return nil }
    let parts = time.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, let microseconds = parts.first.flatMap({ Int64($0) }) else { return nil }
    guard let counter = parts.count == 2 ? UInt32(parts[1]) : 0 else { return nil }
    self.init(
      physical: Timestamp(microseconds: microseconds), counter: counter,
      replica: halves.count == 2 ? String(halves[1]) : "")
  }
}

extension EditStamp {
  /// The time of all seeds: before any other.
  package static let seedTime = Timestamp(microseconds: .min)

  /// Whether the stamp is that of a default, which loses to every edit.
  package var isOfSeed: Bool { physical == Self.seedTime && counter > 0 }

  /// The stamp itself if it is later than another, otherwise the replica's next one.
  ///
  /// The next one has the next counter, or the next microsecond if the counter is used up.
  package func following(_ other: EditStamp) -> EditStamp {
    if physical > other.physical || physical == other.physical && counter > other.counter { return self }
    return other.counter < .max
      ? EditStamp(physical: other.physical, counter: other.counter + 1, replica: replica)
      : EditStamp(physical: other.physical + .microseconds(1), counter: 0, replica: replica)
  }
}
