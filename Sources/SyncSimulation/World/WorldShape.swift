import InMemoryAdapters
import SyncCore
import SyncModels

/// The properties of a world that are fixed before it begins.
struct WorldShape: Sendable {
  var remote: InMemoryRemote.Configuration
  var visibilities: [Entity.Visibility]
  var options: SyncOptions
  var processes: Int
  var writers: Int
  var syncs: Int
  var edits: Int
  var keys: Int
  var hazards: Set<Hazard>
  var rates: [Int]
  var habit: SeededExecutor.Habit
  /// The library's policy that resolves conflicts.
  var policy: Policy
  /// What becomes of records whose target was deleted elsewhere, by reference.
  private(set) var deletionRules: [FieldName: Reference.DeletionRule] = [:]
  /// Whether the app names the account to the engine, and not the remote.
  private(set) var namesAccounts = false

  /// The library's policies.
  enum Policy: Int, CaseIterable {
    case lastWrite, fieldwise, server
  }

  /// Whether every writer adds to one number.
  ///
  /// What would replace the number or decide otherwise does not occur in such a world.
  var hasSums: Bool {
    let others: Set<Hazard> = [.brokenPolicies, .exchangedAccounts, .exchangedSource, .wipes]
    return hazards.contains(.sums) && hazards.contains(.localEdits) && hazards.isDisjoint(with: others)
  }

  /// Whether the person has other devices.
  ///
  /// They keep to the first version of the app, and to one remote.
  var hasOtherDevices: Bool {
    let others: Set<Hazard> = [
      .changingDeclarations, .exchangedAccounts, .exchangedSource, .newerSchemas, .wipes,
    ]
    return hazards.contains(.otherDevices) && hazards.isDisjoint(with: others)
  }

  /// Whether another person may log in.
  ///
  /// The app then has no bundled records of the first one, and keeps to one remote.
  var exchangesAccounts: Bool {
    hazards.contains(.exchangedAccounts) && hasEdits && !hazards.contains(.exchangedSource)
  }

  /// The immutable field of leagues, in a world that has one.
  var immutableField: FieldName? {
    let hasOne = hazards.contains(.immutableFields) && hasEdits && remote.versions != .perScan
    return hasOne ? "made" : nil
  }

  /// Whether the remote writes the immutable field itself.
  var assignsField: Bool { immutableField != nil && hazards.contains(.assignedFields) }

  /// The member that differs in each answer, in a world with one.
  var volatileField: FieldName? {
    hazards.contains(.volatileMembers) && remote.versions == .perChange ? "served" : nil
  }

  /// Whether the remote stores some values in a form of its own.
  var normalises: Bool { hazards.contains(.normalising) && hasEdits }

  /// Whether the remote gives new records keys of its own.
  var assignsKeys: Bool { hazards.contains(.assignedKeys) && hasEdits }

  /// Whether the remote changes a type's edits itself, so that its result of one, and another writer's
  /// change of that, look alike.
  func altersEdits(of type: RecordType) -> Bool {
    volatileField != nil || normalises || type == "leagues" && assignsField
  }

  /// Whether an edit may be sent again on top of its own result.
  ///
  /// A stamp in a field of the app's choice does not prove that an altered result is the edit's.
  func hidesResults(of type: RecordType) -> Bool {
    altersEdits(of: type) && (type == "leagues" ? assignsField : type == "teams")
  }

  /// Whether processes may edit records and push.
  var hasEdits: Bool { !hazards.isDisjoint(with: [.localEdits, .duplicates, .sightings]) }

  /// The longest time until a late write becomes visible.
  ///
  /// Together with jumps of the server's clock, it stays below the overlap of deltas. A listing of
  /// keys, together with lookups, finds what is later.
  var longestLateness: Duration {
    remote.sweepInterval != nil && !hazards.contains(.refusedLookups) ? .seconds(15) : .seconds(2)
  }

  /// Whether the remote refuses lookups of a type's records.
  func refusesLookups(of type: RecordType) -> Bool {
    hazards.contains(.refusedLookups) && type == (keys % 2 == 0 ? "games" : "teams")
  }

  /// Chooses a shape within the allowed hazards.
  ///
  /// - Parameter isSmall: Whether the world has one process, so that all of its calls can be tried.
  init(_ choices: Choices, allowing allowed: Set<Hazard>, isSmall: Bool) {
    hazards = Self.hazards(choices, allowing: allowed)
    remote = Self.remote(choices)
    // Equal times are frequent.
    if hazards.contains(.reorderedTies) { remote.timeGranularity = .seconds(1) }
    visibilities = (0..<3).map { _ in choices.once(in: 3) ? .wholeEntity : .perPage }
    options = SyncOptions(
      pageSize: choices.number(in: 1...7), pagesAhead: choices.pick(0, 1, 2, 10),
      maximumConcurrentTypes: choices.number(in: 1...3),
      retry: RetryPolicy(attempts: choices.number(in: 1...4)),
      leaseDuration: .seconds(15))
    processes = isSmall ? 1 : choices.number(in: 1...3)
    writers = isSmall ? 1 : choices.number(in: 1...5)
    syncs = isSmall ? 2 : choices.number(in: 1...4)
    edits = choices.number(in: 1...(isSmall ? 8 : 12))
    keys = choices.number(in: 3...(isSmall ? 5 : 10))
    let drifts = hazards.contains(.jumpingClocks)
    rates = (0..<processes).map { _ in drifts ? choices.pick(1000, 995, 1005, 900, 1100) : 1000 }
    habit = SeededExecutor.Habit(rawValue: choices.below(4)) ?? .inOrder
    policy = Policy(rawValue: choices.below(Policy.allCases.count)) ?? .lastWrite
    if hasEdits { Self.choosePushes(choices, hazards, &remote) }
    remote.assignsKeys = assignsKeys
    if hazards.contains(.exchangedAccounts) { namesAccounts = choices.below(2) == 1 }
    guard hazards.contains(.deletionRules) else { return }
    for field: FieldName in ["parent", "league", "home", "away"] {
      deletionRules[field] = choices.pick(
        .restoresTarget, .keepsTarget, .clearsReference, .deletesReferrers)
    }
  }

  private static func hazards(_ choices: Choices, allowing allowed: Set<Hazard>) -> Set<Hazard> {
    let usual = Hazard.allCases.filter { !Hazard.drawnApart.contains($0) }
    var hazards = Set(usual.filter { choices.below(2) == 1 && allowed.contains($0) })
    for hazard in Hazard.drawnApart where choices.onceApart(in: 8) && allowed.contains(hazard) {
      hazards.insert(hazard)
    }
    // What a backup lacks is lost at the remote, and only one such loss is told apart in a world.
    if hazards.contains(.restoredRemotes) {
      hazards.subtract([.exchangedAccounts, .exchangedSource, .otherDevices, .sums, .wipes])
    }
    // Keys that are given again would name other records.
    if hazards.contains(.assignedKeys) {
      hazards.subtract([.exchangedAccounts, .exchangedSource, .restoredRemotes, .wipes])
    }
    return hazards
  }

  /// A reference of a type, with the world's rule for it.
  func reference(_ field: FieldName, to target: RecordType, ordered: Bool = true) -> Reference {
    .to(target, by: field, ordered: ordered, onDeletion: deletionRules[field, default: .restoresTarget])
  }

  private static func remote(_ choices: Choices) -> InMemoryRemote.Configuration {
    var remote = choices.pick(
      InMemoryRemote.Configuration.privateZone, .timestampedCollection(), .publicDatabase(), .fullOnly,
      .sweptDatabase())
    if choices.once(in: 3) { remote.hasResumablePages.toggle() }
    if choices.once(in: 3) { remote.supportsLookup = true }
    if choices.once(in: 3) { remote.maximumPageSize = 3 }
    remote.timeGranularity = choices.pick(.microseconds(1), .milliseconds(1), .seconds(1))
    remote.latency = choices.pick(.zero, .milliseconds(50), .seconds(2))
    return remote
  }

  private static func choosePushes(
    _ choices: Choices, _ hazards: Set<Hazard>, _ remote: inout InMemoryRemote.Configuration
  ) {
    remote.remembersKeys = choices.below(2) == 0
    remote.pushLimits.maximumRecords = choices.pick(100, 1, 2, 4)
    if choices.once(in: 3) { remote.numberField = "number" }
    if hazards.contains(.capriciousRemote), choices.once(in: 3) {
      remote.acceptedAtOnce = SinkLimits(maximumRecords: 2)
    }
  }
}
