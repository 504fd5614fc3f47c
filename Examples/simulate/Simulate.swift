import Foundation
import SyncSimulation
import ToolSupport

/// Tries the library's promises in worlds full of faults.
@main
enum Simulate {
  static func main() async {
    let options = SimulateOptions()
    guard let simulation = options.store == "sqlite" ? Simulation.withSQLite : Simulation() else {
      fail("simulate was built without the trait SQLite, which this store needs.")
    }
    if let path = options.replay { replay(path, simulation) }
    if let seed = options.seed {
      let outcome = simulation.run(seed: UInt64(seed))
      tell(simulation.replay(outcome.recording, keepsTimeline: true)).endProcess()
    }
    if options.huntsMutants { await hunt(options, simulation).endProcess() }
    await tryWorlds(options, simulation).endProcess()
  }

  private static func tryWorlds(_ options: SimulateOptions, _ simulation: Simulation) async -> ExitCode {
    let begin = ContinuousClock.now
    let workers = Workers(first: options.first, count: options.seeds, seconds: options.seconds)
    let isSweep = options.isSweep
    let campaign = await workers.run { seed in
      guard isSweep else { return simulation.run(seeds: seed..<seed + 1) }
      // Another way at each call, and at the same call of the next world.
      let faults = SweptFault.allCases
      return simulation.sweep(seed: seed) { [faults[(Int(seed % 5) + $0) % faults.count]] }
    }
    let report = CampaignReport(campaign, took: .now - begin, isSweep: isSweep)
    report.print()
    var code = ExitCode.success
    if options.isDemanding, !campaign.unseen.isEmpty {
      StandardStream.error.line(
        "simulate: never seen: \(campaign.unseen.map(\.rawValue).joined(separator: ", "))")
      code = .failure
    }
    if let (seed, outcome) = campaign.failures.min(by: { $0.seed < $1.seed }) {
      StandardStream.error.line("simulate: seed \(seed) breaks a promise; making its world smaller")
      let small = simulation.shrink(outcome.recording)
      _ = tell(simulation.replay(small, keepsTimeline: true))
      keep(small, options.save)
      code = .failure
    }
    if options.isJSON { StandardStream.output.line(report.json.compact) }
    return code
  }

  private static func keep(_ recording: Recording, _ path: String) {
    do {
      try recording.text.write(toFile: path, atomically: true, encoding: .utf8)
      StandardStream.error.line("simulate: kept in \(path)")
    } catch {
      StandardStream.error.line(
        "simulate: the world could not be kept in \(path): \(error.localizedDescription)")
    }
  }

  private static func replay(_ path: String, _ simulation: Simulation) -> Never {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      fail("\(path) cannot be read.")
    }
    guard let recording = Recording(text: text) else { fail("\(path) holds no world.") }
    tell(simulation.replay(recording, keepsTimeline: true)).endProcess()
  }

  /// Prints all that happened in a world.
  private static func tell(_ outcome: Outcome) -> ExitCode {
    let output = StandardStream.output
    output.line("hazards: \(outcome.hazards.map(\.rawValue).sorted().joined(separator: ", "))")
    for line in outcome.timeline { output.line(line) }
    for violation in outcome.violations { output.line("broken: \(violation)") }
    if outcome.violations.isEmpty { output.line("every promise was kept") }
    return outcome.violations.isEmpty ? .success : .failure
  }

  private static func fail(_ words: String) -> Never {
    StandardStream.error.line("simulate: \(words)")
    ExitCode.failure.endProcess()
  }

  /// Builds one flaw after another in, and looks who notices.
  private static func hunt(_ options: SimulateOptions, _ simulation: Simulation) async -> ExitCode {
    #if MUTANTS
      let seeds = UInt64(options.first)..<UInt64(options.first) + UInt64(options.seeds)
      let mutants = Simulation.mutants.filter { options.only == nil || options.only == $0 }
      if mutants.isEmpty { fail("there is no such flaw; without --only all are tried.") }
      let survivors = await Hunt(mutants, simulation, seeds: seeds).run()
      let killed = mutants.count - survivors.count
      StandardStream.output.line("\(killed) killed, \(survivors.count) survived")
      if options.isJSON {
        let report = JSON.object([
          ("killed", .integer(killed)), ("survivors", .array(survivors.map { .string($0) })),
        ])
        StandardStream.output.line(report.compact)
      }
      return survivors.isEmpty ? .success : .failure
    #else
      fail("this build has no flaws in it; build with CANONICALSYNC_MUTANTS=1 in the environment.")
    #endif
  }
}
