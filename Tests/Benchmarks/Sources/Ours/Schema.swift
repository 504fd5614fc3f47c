import CanonicalSync
import SyncAdapters

extension Entity {
  /// Records without declared fields.
  static let plain = Entity("games")
  static let teams = Entity("teams")
  /// The same records, with two references and an index.
  static let referring = Entity(
    "games", references: [.to("teams", by: "home_id"), .to("teams", by: "away_id")], indexes: ["venue"])

  /// The same records, with an index alone.
  static let listed = Entity("games", indexes: ["venue"])

  /// The same records, some of which share an address.
  static let keyed = Entity("games", naturalKey: NaturalKey("mac"))

  /// The same records, shown all at once, and records of the app beside them.
  static let whole = Entity("games", visibility: .wholeEntity)
  static let notes = Entity("notes")

  /// Ten independent types.
  static let ten = (0..<10).map { Entity(RecordType("type\($0)")) }
}

extension Options {
  func entities() -> [Entity] {
    switch workload {
    case "W1r", "W6": [.teams, .referring]
    case "W4", "W4fill": [.keyed]
    case "listing": [.listed]
    case "W8": Array(Entity.ten.prefix(types))
    case "W9", "W9fill": Entity.ten
    case "W10": [.whole, .notes]
    case "W12", "W12alone", "committing": [.plain, .notes]
    default: [.plain]
    }
  }
}
