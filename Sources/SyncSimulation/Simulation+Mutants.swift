import SyncModels

extension Simulation {
  /// The names of the flaws that can be introduced on purpose.
  ///
  /// They are those of ports, and, in a build that enables them, the engine's own.
  public static var mutants: [String] {
    #if MUTANTS
      PortFlaw.allCases.map(\.rawValue) + Mutant.allCases.map(\.rawValue)
    #else
      PortFlaw.allCases.map(\.rawValue)
    #endif
  }

  /// Runs the worlds of some seeds with a flaw, until a check detects it.
  ///
  /// - Parameter goesOn: Called before each world; `false` ends the hunt.
  /// - Returns: The seed of the first world that broke a promise, and its outcome; `nil` if no
  ///   check detected the flaw.
  public func hunt(
    mutant name: String, seeds: Range<UInt64>, while goesOn: () -> Bool = { true }
  ) -> (seed: UInt64, outcome: Outcome)? {
    if let flaw = PortFlaw(rawValue: name) {
      var simulation = self
      simulation.flaw = flaw
      return simulation.firstFailure(seeds, while: goesOn)
    }
    #if MUTANTS
      if let mutant = Mutant(rawValue: name) {
        return Mutant.$current.withValue(mutant) { firstFailure(seeds, while: goesOn) }
      }
    #endif
    return nil
  }

  private func firstFailure(
    _ seeds: Range<UInt64>, while goesOn: () -> Bool
  ) -> (seed: UInt64, outcome: Outcome)? {
    for seed in seeds {
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
    if let flaw = PortFlaw(rawValue: name) { return flaw.killers }
    #if MUTANTS
      if let mutant = Mutant(rawValue: name) { return mutant.killers }
    #endif
    return []
  }
}

#if MUTANTS
  extension Mutant {
    fileprivate var killers: Set<Promise> {
      switch self {
      case .watermarkOfACancelledPage: [.atomicPage, .nothingSilent]
      case .watermarkBeforeTheEnd, .watermarkFirst, .watermarkApart: [.atomicPage, .nothingSilent]
      case .errorSwallowed: [.convergence, .atomicPage]
      case .resumedFromTheStart, .cancellationUnheard: [.cancellation]
      // Where the source is another one, edits meet what their bases never knew, and meet it again.
      case .scopeIgnored: [.convergence, .bounds]
      case .overlapForgotten, .tokenIsMaximum, .timestampAlone, .offsetPaging: [.convergence]
      case .timestampWithoutProgress: [.liveness, .bounds]
      case .requestedPauseIgnored, .retriesWithoutEnd, .pagesAheadWithoutEnd: [.bounds]
      case .clientClockAsVersion, .copyUnchecked, .tombstoneUnchecked:
        [.replication, .convergence, .nothingSilent]
      // A change of a new epoch that a trigger told of looks old, and never comes.
      case .epochForgotten: [.replication, .convergence, .nothingSilent, .liveness]
      case .tombstoneForgotten, .poisonDropped: [.nothingSilent]
      case .poisonStopsItsPage: [.liveness, .honestErrors]
      case .supersededUncounted: [.balance]
      case .childFirst, .parentDeletedFirst: [.references]
      case .parkedForEver, .heldForEver: [.convergence, .references]
      // A row that kept its mark is also taken for one of the same listing, whose count is taken back.
      case .marksKept: [.convergence, .nothingSilent, .balance]
      case .sweepNever: [.convergence, .liveness]
      case .sweepAtOnce: [.references]
      case .tiesByArrival, .tieRuleNotTotal: [.arithmetic]
      case .outboxEmptiedTooEarly: [.noLostEdit, .convergence]
      case .nameForEachAttempt: [.oneEffect]
      case .throttleKeptAfterAFailure: [.throttle]
      case .rebuildDeletesAll, .rebuildElectsALoser: [.onlyLosers]
      case .rebuildKeepsALoser: [.convergence]
      case .rebuildProgressLost: [.rebuiltOnce]
      case .rebuildIsAWrite: [.onlyLosers]
      case .bundledWinnerUnknown, .deletionsWaitInACircle: [.convergence]
      case .circlesNeverShown, .circlesNeverGo, .hiddenForEver, .shownAndHidden: [.convergence]
      case .hiddenTakenForListed: [.convergence, .noResurrection]
      case .answerUnmet: [.honestConflicts]
      case .policyUnchecked: [.references, .convergence]
      case .poisonEditStopsOthers: [.convergence]
      case .declarationsIgnored: [.references, .convergence]
      case .poisonEditSentTwice: [.bounds]
      case .lookupStopsAllTypes: [.liveness]
      }
    }
  }
#endif
