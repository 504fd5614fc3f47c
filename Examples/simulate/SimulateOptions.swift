import SyncSimulation
import ToolSupport

/// What the command line says.
struct SimulateOptions {
  let seeds: Int
  let first: Int
  let seconds: Int?
  let seed: Int?
  let replay: String?
  let save: String
  let store: String
  let hazards: Set<Hazard>?
  let isSweep: Bool
  let huntsMutants: Bool
  let only: String?
  let isDemanding: Bool
  let isJSON: Bool

  /// Reads the command line; asked for help, or given a mistake, it answers and ends the process.
  init() {
    let seeds = Option<Int?>.number("seeds", "N", "how many worlds to try, 1000 by default", in: 1...Int.max)
    let first = Option<Int?>.number("first-seed", "N", "the first of them, 0 by default", in: 0...Int.max)
    let seconds = Option<Int?>.number("seconds", "N", "begin no world after so long", in: 1...Int.max)
    let seed = Option<Int?>.number("seed", "N", "tell the story of one world", in: 0...Int.max)
    let replay = Option<String?>.text("replay", "FILE", "tell the story of a world that was kept")
    let save = Option<String>.text(
      "save", "FILE", "where to keep a world that breaks a promise", default: "broken.world")
    let hazards = Option<String?>.text(
      "hazards", "A,B", "what may go wrong, and nothing besides; with a + before the first, besides the usual"
    )
    let store = Option<String>.text("store", "memory|sqlite", "what to sync into", default: "memory")
    let sweep = Option<Bool>.flag(
      "sweep", "in each world, let every call of a port fail once, in one way or another, and nothing besides"
    )
    let mutants = Option<Bool>.flag(
      "mutants", "build flaws in on purpose, and see that each is noticed; needs a build for it")
    let only = Option<String?>.text("only", "NAME", "build this flaw in alone")
    let demanding = Option<Bool>.flag(
      "demanding", "fail as well if something that should be seen in some world was seen in none")
    let json = Option<Bool>.jsonCounts
    let command = Command(
      "simulate",
      "Tries the library's promises in worlds full of faults, each decided by one number. The first world that breaks a promise is "
        + "made as small as it can be, told line by line, and kept.",
      options: [
        seeds, first, seconds, seed, replay, save, hazards, store, sweep, mutants, only, demanding, json,
      ],
      examples: [
        ("simulate --seeds 10000", "ten thousand worlds, in memory"),
        ("simulate --seeds 1000 --store sqlite", "a thousand, with SQLite's store in them"),
        ("simulate --sweep --seeds 50", "a fault at every call, over fifty worlds"),
        ("simulate --seed 7", "everything that happens in one world"),
        ("simulate --replay broken.world", "once more what went wrong"),
      ])
    let arguments = command.argumentsOrExit()
    self.seeds = arguments[seeds] ?? 1000
    self.first = arguments[first] ?? 0
    self.seconds = arguments[seconds]
    self.seed = arguments[seed]
    self.replay = arguments[replay]
    self.save = arguments[save]
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
    self.isJSON = arguments[json]
    guard ["memory", "sqlite"].contains(self.store) else {
      command.refuse(UsageError("--store must be memory or sqlite, not \(self.store)"))
    }
    let ofMany: [(name: String, isGiven: Bool)] = [
      ("seeds", arguments[seeds] != nil), ("first-seed", arguments[first] != nil),
      ("seconds", self.seconds != nil), ("sweep", isSweep), ("mutants", huntsMutants),
      ("demanding", isDemanding),
    ]
    if let contradiction = contradiction(ofMany) { command.refuse(contradiction) }
  }

  /// What a list of names says.
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

  /// What cannot be meant together: it would be left aside without a word.
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
    if isSweep, huntsMutants {
      return UsageError("--sweep and --mutants are two ways to try worlds: give one")
    }
    if isDemanding, isSweep || huntsMutants {
      return UsageError(
        "--demanding wants everything to be seen, and \(isSweep ? "--sweep" : "--mutants") does not show everything"
      )
    }
    return nil
  }
}
