#if CloudKit
  import SyncJSON

  /// The name of a zone, and its owner in a shared database.
  public struct ZoneID: Hashable, Sendable {
    /// The zone's name.
    public let name: String
    /// The record name of the owner; `nil` for the user's own zones.
    public let owner: String?

    /// Creates a zone's name.
    public init(_ name: String, owner: String? = nil) {
      self.name = name
      self.owner = owner
    }

    /// The zone that every database has. It has no change tokens.
    static let defaultZone = ZoneID("_defaultZone")

    /// Whether it is the zone that every database has.
    var isDefault: Bool { name == Self.defaultZone.name }

    /// The zone as the service spells it.
    var bytes: [UInt8] {
      var object = ObjectWriter()
      object.add("zoneName", text: name)
      if let owner { object.add("ownerRecordName", text: owner) }
      return object.bytes
    }
  }

  extension ZoneID: CustomStringConvertible {
    /// The name, behind the owner's, if there is one.
    public var description: String { owner.map { "\($0)/\(name)" } ?? name }
  }
#endif
