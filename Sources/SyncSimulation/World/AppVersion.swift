import SyncModels

/// One version of the app: its declarations and its schema version.
struct AppVersion: Hashable, Sendable, CustomStringConvertible {
  var schema = 1
  /// Whether games are declared at all.
  var hasGames = true
  /// Whether a team waits for its league.
  var ordersLeagues = true
  /// Whether a game waits for the team that plays away.
  var ordersAway = true
  /// Whether a game has a reference to the team that plays away.
  var refersAway = true
  /// The natural key of teams.
  var teamKey: FieldName = "code"

  /// The version for a person, by what differs from the first one.
  var description: String {
    let traits: [String?] = [
      schema == 1 ? nil : "schema \(schema)", hasGames ? nil : "no games",
      ordersLeagues ? nil : "teams do not wait for leagues", ordersAway ? nil : "games do not wait for away",
      refersAway ? nil : "no reference away", teamKey == "code" ? nil : "teams are one by \(teamKey)",
    ]
    let told = traits.compactMap(\.self)
    return told.isEmpty ? "the first version" : "a version with \(told.joined(separator: ", "))"
  }

  /// The next version, with one changed declaration.
  func changed(_ choices: Choices) -> AppVersion {
    var next = self
    switch choices.below(5) {
    case 0: next.ordersLeagues.toggle()
    case 1: next.ordersAway.toggle()
    case 2: next.refersAway.toggle()
    case 3: next.teamKey = teamKey == "code" ? "name" : "code"
    default: next.hasGames.toggle()
    }
    return next
  }

  /// The schema of this version.
  func schema(_ shape: WorldShape) throws(SyncError) -> SyncSchema {
    let hasDuplicates = shape.hazards.contains(.duplicates)
    let areGamesAlike = hasDuplicates && shape.hazards.contains(.keysOfTwoTypes)
    let indexes: [FieldName] = shape.hazards.contains(.cleanUps) ? ["name", "date"] : []
    var entities = [
      Entity(
        "leagues", schemaVersion: schema, schemaVersionField: "schema",
        references: [shape.reference("parent", to: "leagues")],
        immutable: shape.immutableField.map { [$0] } ?? [], visibility: shape.visibilities[0])
    ]
    var ofTeams: [Reference] = [shape.reference("league", to: "leagues", ordered: ordersLeagues)]
    if hasGames { ofTeams.append(.to("games", by: "last", ordered: false)) }
    entities.append(
      Entity(
        "teams", references: ofTeams, naturalKey: hasDuplicates ? NaturalKey(teamKey) : nil,
        stampField: shape.hasEdits ? "stamp" : nil, visibility: shape.visibilities[1]))
    if hasGames {
      var ofGames: [Reference] = [shape.reference("home", to: "teams")]
      if refersAway { ofGames.append(shape.reference("away", to: "teams", ordered: ordersAway)) }
      entities.append(
        Entity(
          "games", references: ofGames, naturalKey: areGamesAlike ? NaturalKey("slot") : nil,
          indexes: indexes, visibility: shape.visibilities[2]))
    }
    return try SyncSchema(entities)
  }
}
