extension Simulation {
  /// The names of the flaws that can be introduced on purpose.
  ///
  /// They are those of ports. A build by `Tests/Mutants/build` adds those of the library.
  public static var mutants: [String] {
    PortFlaw.allCases.map(\.rawValue)
  }

  /// Runs the worlds of some seeds with a flaw, until a check detects it.
  ///
  /// Worlds without the hazards that the flaw needs are left out.
  ///
  /// - Parameters:
  ///   - name: The name of the flaw, one of ``mutants``.
  ///   - seeds: The numbers of the worlds.
  ///   - goesOn: Called before each world; `false` ends the hunt.
  /// - Returns: The seed of the first world that broke a promise, and its outcome; `nil` if no
  ///   check detected the flaw.
  public func hunt(
    mutant name: String, seeds: Range<UInt64>, while goesOn: () -> Bool = { true }
  ) -> (seed: UInt64, outcome: Outcome)? {
    let needs = Self.needs(of: name)
    var simulation = self
    if let alone = Self.alone(with: name) { simulation.hazards = alone }
    return simulation.withFlaw(name) { $0.firstFailure(seeds, with: needs, while: goesOn) } ?? nil
  }

  /// Does work in which each world has a flaw: replays one, makes it smaller, or draws it.
  ///
  /// - Returns: The result of the work; `nil` if there is no such flaw.
  public func withFlaw<R>(_ name: String, _ work: (Simulation) -> R) -> R? {
    guard let flaw = PortFlaw(rawValue: name) else { return nil }
    var simulation = self
    simulation.flaw = flaw
    return work(simulation)
  }

  private func firstFailure(
    _ seeds: Range<UInt64>, with needs: Set<Hazard>, while goesOn: () -> Bool
  ) -> (seed: UInt64, outcome: Outcome)? {
    for seed in seeds where needs.isEmpty || hazards(ofWorld: seed).isSuperset(of: needs) {
      guard goesOn() else { return nil }
      let outcome = run(seed: seed)
      if !outcome.violations.isEmpty { return (seed, outcome) }
    }
    return nil
  }

  /// The promises of which one must be reported first under a flaw.
  ///
  /// A report of any other promise is not the intended one.
  public static func killers(of name: String) -> Set<Promise> {
    guard let flaw = PortFlaw(rawValue: name) else { return [] }
    return flaw.killers
  }

  /// The only hazards of the worlds that look for a flaw; `nil` for the usual ones.
  private static func alone(with name: String) -> Set<Hazard>? {
    nil
  }

  /// The hazards without which no world shows a flaw.
  private static func needs(of name: String) -> Set<Hazard> {
    []
  }
}
