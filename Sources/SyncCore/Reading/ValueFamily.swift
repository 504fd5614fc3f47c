/// The families of values that the engine keeps, by the starts of their keys.
///
/// All other keys are the app's own.
package enum ValueFamily: String, CaseIterable, Sendable {
  case checkpoints = "checkpoint/"
  case circles = "circles/"
  case declarations = "declarations"
  case edits = "edits/"
  case expiring = "expiring/"
  case history = "history"
  case listingGaps = "listing-gap/"
  case migrations = "migration/"
  case postponements = "put-off/"
  case push = "push/"
  case rebuilds = "rebuild/"
  case sourceEpochs = "source-epoch/"
  case status = "status/"
  case sync = "sync/"
  case throttle = "throttle/"

  /// Returns the family of a key; `nil` for the app's own.
  init?(of key: String) {
    guard let family = Self.allCases.first(where: { key.hasPrefix($0.rawValue) }) else { return nil }
    self = family
  }

  /// Whether a salvage takes the values over to a new store.
  ///
  /// The others describe syncs, and the new store has had none.
  var survivesSalvage: Bool {
    switch self {
    case .expiring, .migrations, .throttle: true
    case .checkpoints, .circles, .declarations, .edits, .history, .listingGaps, .postponements, .push,
      .rebuilds, .sourceEpochs, .status, .sync:
      false
    }
  }
}
