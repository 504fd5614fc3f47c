import InMemoryAdapters
import SyncCore
import SyncModels

/// The records that clean-ups hide, by a direct evaluation of the rules.
struct FinalRules: Sendable {
  var rules: [CleanupRule]
  var policy: CleanupPolicy { CleanupPolicy(rules.map(\.rule), recordsAtOnce: 2) }

  func hides(_ record: Record, at now: Timestamp) -> Bool {
    rules.contains { $0.hides(record, at: now) }
  }
}

/// A rule, of the kinds that worlds have.
enum CleanupRule: Sendable {
  case named(RecordType, Int)
  case dated

  var rule: CleanupPolicy.Rule {
    switch self {
    case .named(let type, let name): .hide(type, where: .equal("name", .integer(Int64(name))))
    case .dated: .hide("games", olderThan: Self.age, by: .date("date"))
    }
  }

  private static let age = Duration.seconds(60 * 86_400)

  func hides(_ record: Record, at now: Timestamp) -> Bool {
    func value(_ field: FieldName) -> FieldValue? { try? record.payload.values(of: [field]).first }
    switch self {
    case .named(let type, let name):
      return record.id.type == type && value("name") == .integer(Int64(name))
    case .dated:
      // There are two dates: one is older than that by any correct clock, the other never is.
      return record.id.type == "games" && value("date") == .string("2025-10-01")
    }
  }
}

extension World {
  /// Draws the rules of a clean-up.
  func drawRules(_ version: AppVersion) -> FinalRules {
    var rules: [CleanupRule] = [.named("leagues", choices.number(in: 1...3))]
    if version.hasGames {
      // Processes with different clocks would hide different records, so the last rules have no
      // dates then.
      let isDated = choices.below(2) == 1 && !(isCalm && shape.hazards.contains(.jumpingClocks))
      rules.append(isDated ? .dated : .named("games", choices.number(in: 1...3)))
    }
    return FinalRules(rules: choices.below(4) == 0 ? [] : rules)
  }
}

extension Incarnation {
  /// Hides records by other rules each time, perhaps while the clock is wrong.
  func cleanUpInTrouble() async {
    guard world.shape.hazards.contains(.cleanUps), world.choices.once(in: 2), !isDead, let engine else {
      return
    }
    begin(SyncRequest())
    let right = clock.timestamp
    let isWrong = world.shape.hazards.contains(.jumpingClocks) && world.choices.once(in: 3)
    if isWrong { clock.timestamp = right + .seconds(2 * 365 * 86_400) }
    do throws(SyncError) {
      let report = try await engine.cleanUp(world.drawRules(version).policy)
      trace(as: .sync, "hides \(report.hidden.values.reduce(0, +))")
    } catch {
      trace(as: .sync, "could not clean up: \(error.code)")
      world.trace.mix(error.code.description)
      let own: [SyncError.Code] =
        world.shape.hazards.contains(.sharedVersions)
        ? [.declarationsReplaced, .syncAlreadyInProgress] : [.syncAlreadyInProgress]
      if !isDead, !own.contains(error.code), !causes.contains(error.code) {
        world.ledger.report(.honestErrors, "\(self) could not clean up: \(error)")
      }
    }
    if isWrong { clock.timestamp = clock.timestamp - .seconds(2 * 365 * 86_400) }
  }

  /// Hides records by the last rules, which are the same for all processes.
  func cleanUpInCalm() async {
    guard let rules = world.finalRules, let engine else { return }
    begin(SyncRequest())
    do throws(SyncError) {
      _ = try await engine.cleanUp(rules.policy)
    } catch {
      world.ledger.report(.liveness, "with all faults gone, \(self) cannot clean up: \(error)")
    }
  }
}
