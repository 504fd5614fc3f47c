import CanonicalSyncToolSupport
import SyncSimulation

/// The options of the command line.
struct SimulateOptions {
  let seeds: Int
  let first: Int
  let seconds: Int?
  let seed: Int?
  let replay: String?
  let save: String
  let picture: String?
  let store: String
  let hazards: Set<Hazard>?
  let isSweep: Bool
  let huntsMutants: Bool
  let only: String?
  let isDemanding: Bool
  let showsCounters: Bool
  let isJSON: Bool

  /// Parses the command line.
  ///
  /// After a request for help, or a mistake, it prints an answer and ends the process.
  init() {
    let seeds = Option<Int?>.number("seeds", "N", "how many worlds to try, 1000 by default", in: 1...Int.max)
    let first = Option<Int?>.number("first-seed", "N", "the first of them, 0 by default", in: 0...Int.max)
    let seconds = Option<Int?>.number("seconds", "N", "begin no world after this time", in: 1...Int.max)
    let seed = Option<Int?>.number("seed", "N", "print every event of one world", in: 0...Int.max)
    let replay = Option<String?>.text("replay", "FILE", "print every event of a saved world")
    let save = Option<String>.text(
      "save", "FILE", "where to save a world that breaks a promise", default: "broken.world")
    let picture = Option<String?>.text(
      "picture", "FILE",
      "draw the world as a page: that of --seed or --replay, or the first that breaks a promise, made smaller"
    )
    let hazards = Option<String?>.text(
      "hazards", "A,B",
      "the hazards to enable, alone; with a + before the first, in addition to the usual ones"
    )
    let store = Option<String>.text("store", "memory|sqlite", "the kind of store", default: "memory")
    let sweep = Option<Bool>.flag(
      "sweep", "in each world, let every call of a port fail once, with no other fault"
    )
    let mutants = Option<Bool>.flag(
      "mutants", "run deliberate flaws, and check that each is detected; needs a build with them")
    let only = Option<String?>.text("only", "NAME", "run only this flaw")
    let demanding = Option<Bool>.flag(
      "demanding", "also fail if no world showed an event that some world should show")
    let counters = Option<Bool>.flag("counters", "print how often each event of the worlds occurred")
    let json = Option<Bool>.jsonCounts
    let command = Command(
      "simulate",
      "Checks the library's promises in worlds full of faults, each derived from one number. The first world that breaks a promise is "
        + "reduced to its smallest form, printed line by line, and saved.",
      options: [
        seeds, first, seconds, seed, replay, save, picture, hazards, store, sweep, mutants, only, demanding,
        counters, json,
      ],
      examples: [
        ("simulate --seeds 10000", "ten thousand worlds, in memory"),
        ("simulate --seeds 1000 --store sqlite", "a thousand, with SQLite's store in them"),
        ("simulate --sweep --seeds 50", "a fault at every call, over fifty worlds"),
        ("simulate --seed 7", "everything that happens in one world"),
        ("simulate --replay broken.world", "the saved failure once more"),
        (
          "simulate --replay broken.world --picture world.html",
          "and as a page: what happened, and what broke"
        ),
      ])
    let arguments = command.argumentsOrExit()
    self.seeds = arguments[seeds] ?? 1000
    self.first = arguments[first] ?? 0
    self.seconds = arguments[seconds]
    self.seed = arguments[seed]
    self.replay = arguments[replay]
    self.save = arguments[save]
    self.picture = arguments[picture]
    self.store = arguments[store]
    do throws(UsageError) {
      self.hazards = try arguments[hazards].map { (list) throws(UsageError) in try Self.hazards(list) }
    } catch {
      command.refuse(error)
    }
    self.isSweep = arguments[sweep]
    self.huntsMutants = arguments[mutants]
    self.only = arguments[only]
    self.isDemanding = arguments[demanding]
    self.showsCounters = arguments[counters]
    self.isJSON = arguments[json]
    guard ["memory", "sqlite"].contains(self.store) else {
      command.refuse(UsageError("--store must be memory or sqlite, not \(self.store)"))
    }
    let ofMany: [(name: String, isGiven: Bool)] = [
      ("seeds", arguments[seeds] != nil), ("first-seed", arguments[first] != nil),
      ("seconds", self.seconds != nil), ("sweep", isSweep), ("mutants", huntsMutants),
      ("demanding", isDemanding), ("counters", showsCounters),
    ]
    if let contradiction = contradiction(ofMany) { command.refuse(contradiction) }
  }

  /// Parses a list of names.
  private static func hazards(_ list: String) throws(UsageError) -> Set<Hazard> {
    var hazards = list.hasPrefix("+") ? Simulation().hazards : []
    for name in list.drop(while: { $0 == "+" }).split(separator: ",") {
      guard let hazard = Hazard(rawValue: String(name)) else {
        throw UsageError(
          "there is no hazard \(name); there are \(Hazard.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      hazards.insert(hazard)
    }
    return hazards
  }

  /// Finds contradictory options, one of which would be ignored silently.
  private func contradiction(_ ofMany: [(name: String, isGiven: Bool)]) -> UsageError? {
    if seed != nil, replay != nil {
      return UsageError("--seed and --replay are a world each: give one of them")
    }
    if let ofOne = seed != nil ? "seed" : replay != nil ? "replay" : nil,
      let other = ofMany.first(where: \.isGiven)
    {
      return UsageError("--\(ofOne) is about one world, --\(other.name) about many: give one of them")
    }
    if only != nil, !huntsMutants { return UsageError("--only names a flaw for --mutants, which is missing") }
    if picture != nil, huntsMutants, only == nil {
      return UsageError("--picture draws one world: name the flaw by --only")
    }
    if isSweep, huntsMutants {
      return UsageError("--sweep and --mutants are two ways to try worlds: give one")
    }
    if isDemanding, isSweep || huntsMutants {
      return UsageError(
        "--demanding requires every event to be seen, and \(isSweep ? "--sweep" : "--mutants") does not show everything"
      )
    }
    return nil
  }
}
