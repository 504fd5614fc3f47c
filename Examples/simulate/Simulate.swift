import CanonicalSync
import CanonicalSyncToolSupport
import Foundation
import SyncPictures
import SyncSimulation

/// Checks the library's promises in worlds full of faults.
@main
enum Simulate {
  static func main() async {
    let options = SimulateOptions()
    let interrupt = Interrupt(on: [SIGINT, SIGTERM]) {}
    do throws(SyncError) {
      guard var simulation = options.store == "sqlite" ? Simulation.withSQLite : Simulation() else {
        throw failure("simulate was built without the trait SQLite, which this store needs.")
      }
      if let hazards = options.hazards { simulation.hazards = hazards }
      // Checked first, because the worlds may take hours.
      let drawing = try options.picture.map { (path) throws(SyncError) in try Drawing(path) }
      try await run(options, simulation, drawing, interrupt).endProcess()
    } catch {
      error.tell(by: "simulate", error.message, isJSON: options.isJSON)
      ExitCode.failure.endProcess()
    }
  }

  private static func run(
    _ options: SimulateOptions, _ simulation: Simulation, _ drawing: Drawing?, _ interrupt: Interrupt
  ) async throws(SyncError) -> ExitCode {
    if let path = options.replay {
      return try story(of: try recording(path), simulation, drawing, options)
    }
    if let seed = options.seed {
      let outcome = simulation.run(seed: UInt64(seed))
      let isDrawnSmaller = drawing != nil && !outcome.violations.isEmpty
      let recording =
        isDrawnSmaller ? simulation.shrink(outcome.recording) { !interrupt.hasCome } : outcome.recording
      return try story(of: recording, simulation, drawing, options)
    }
    if options.huntsMutants { return try await hunt(options, simulation, drawing, interrupt) }
    return try await tryWorlds(options, simulation, drawing, interrupt)
  }

  private static func tryWorlds(
    _ options: SimulateOptions, _ simulation: Simulation, _ drawing: Drawing?, _ interrupt: Interrupt
  ) async throws(SyncError) -> ExitCode {
    let begin = ContinuousClock.now
    let workers = Workers(first: options.first, count: options.seeds, seconds: options.seconds) {
      interrupt.hasCome
    }
    let isSweep = options.isSweep
    let campaign = await workers.run { seed in
      guard isSweep else { return simulation.run(seeds: seed..<seed + 1) }
      // Another fault at each call, and at the same call of the next world.
      let faults = SweptFault.allCases
      return simulation.sweep(seed: seed) { [faults[(Int(seed % 5) + $0) % faults.count]] }
    }
    let wasStopped = interrupt.hasCome
    let report = CampaignReport(
      campaign, took: .now - begin, isSweep: isSweep, wasStopped: wasStopped,
      showsCounters: options.showsCounters)
    report.print()
    var code = wasStopped ? ExitCode.interrupted : .success
    if options.isDemanding, !wasStopped, !campaign.unseen.isEmpty {
      StandardStream.error.line(
        "simulate: never seen: \(campaign.unseen.map(\.rawValue).joined(separator: ", "))")
      code = .failure
    }
    var kept: String?
    if let (seed, outcome) = campaign.failures.min(by: { $0.seed < $1.seed }) {
      StandardStream.output.flush()
      StandardStream.error.line("simulate: seed \(seed) breaks a promise; making its world smaller")
      let small = simulation.shrink(outcome.recording) { !interrupt.hasCome }
      tell(simulation.replay(small, keepsTimeline: true))
      kept = keep(small, options.save) ? options.save : nil
      code = .failure
      try drawing?.draw(small, simulation)
    } else {
      drawing?.isUnused()
    }
    if options.isJSON { StandardStream.output.line(report.json(kept: kept)) }
    return code
  }

  /// Writes a world to a file; returns whether that succeeded.
  private static func keep(_ recording: Recording, _ path: String) -> Bool {
    do {
      try recording.text.write(toFile: path, atomically: true, encoding: .utf8)
      StandardStream.error.line("simulate: kept in \(path)")
      return true
    } catch {
      StandardStream.error.line(
        "simulate: the world could not be saved in \(path): \(error.systemReason)")
      return false
    }
  }

  private static func recording(_ path: String) throws(SyncError) -> Recording {
    let text: String
    do {
      text = try String(contentsOfFile: path, encoding: .utf8)
    } catch {
      throw failure("\(path) cannot be read: \(error.systemReason).")
    }
    guard let recording = Recording(text: text) else {
      throw failure("\(path) holds no world that this version can read (\(LibraryVersion.current)).")
    }
    if let version = recording.version, version != LibraryVersion.current {
      StandardStream.error.line(
        "simulate: \(path) is of version \(version), and this is \(LibraryVersion.current): "
          + "the same choices may make another world.")
    }
    return recording
  }

  private static func story(
    of recording: Recording, _ simulation: Simulation, _ drawing: Drawing?, _ options: SimulateOptions
  ) throws(SyncError) -> ExitCode {
    let outcome = simulation.replay(recording, keepsTimeline: true)
    tell(outcome)
    try drawing?.draw(recording, simulation)
    if options.isJSON { StandardStream.output.line(outcome.json) }
    return outcome.violations.isEmpty ? .success : .failure
  }

  /// Prints all events of a world.
  private static func tell(_ outcome: Outcome) {
    let output = StandardStream.output
    output.line("hazards: \(outcome.hazards.map(\.rawValue).sorted().joined(separator: ", "))")
    for line in outcome.timeline { output.line(line) }
    for violation in outcome.violations { output.line("broken: \(violation)") }
    if outcome.violations.isEmpty { output.line("every promise was kept") }
  }

  private static func failure(_ words: String) -> SyncError {
    SyncError(.invalidConfiguration, during: "simulating", words)
  }

  /// Runs each mutant, and checks that a promise detects it.
  private static func hunt(
    _ options: SimulateOptions, _ simulation: Simulation, _ drawing: Drawing?, _ interrupt: Interrupt
  ) async throws(SyncError) -> ExitCode {
    let seeds = UInt64(options.first)..<UInt64(options.first) + UInt64(options.seeds)
    let mutants = Simulation.mutants.filter { options.only == nil || options.only == $0 }
    if mutants.isEmpty { throw failure("there is no such flaw; without --only all are tried.") }
    let (killed, survivors) = await Hunt(mutants, simulation, seeds: seeds) { interrupt.hasCome }.run()
    StandardStream.output.line("\(killed) killed, \(survivors.count) survived")
    if let drawing, let mutant = options.only {
      try draw(mutant, simulation, seeds, drawing) { !interrupt.hasCome }
    }
    if options.isJSON {
      let report = JSON.object([
        ("killed", .integer(killed)), ("survivors", .array(survivors.map { .string($0) })),
      ])
      StandardStream.output.line(report)
    }
    return !survivors.isEmpty ? .failure : interrupt.hasCome ? .interrupted : .success
  }

  /// Draws the first world that a flaw breaks, made smaller.
  private static func draw(
    _ mutant: String, _ simulation: Simulation, _ seeds: Range<UInt64>, _ drawing: Drawing,
    while goesOn: @escaping () -> Bool
  ) throws(SyncError) {
    guard let hit = simulation.hunt(mutant: mutant, seeds: seeds, while: goesOn) else {
      return drawing.isUnused()
    }
    let picture = simulation.withFlaw(mutant) { flawed in
      flawed.picture(of: flawed.shrink(hit.outcome.recording, while: goesOn))
    }
    if let picture { try drawing.draw(picture) }
  }
}
