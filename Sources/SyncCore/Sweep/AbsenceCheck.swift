import SyncModels
import SyncPorts

/// Asks the remote about everything that a listing lacked, before any of it goes.
struct AbsenceCheck {
  var sweep: Sweep
  var environment: RunEnvironment
  var lease: Lease
  var stop: StopSignal

  /// What the remote said.
  struct Answer: Sendable {
    /// What it does not have.
    var absent: Set<RecordID> = []
    /// What became of the copies that it has all the same.
    var tallies: [Tally] = []
    var requests = 0
  }

  /// Asks, portion by portion; `nil` if the sync was asked to stop meanwhile.
  ///
  /// What the remote has all the same is merged, or staged, as a page of the listing would be.
  ///
  /// - Throws: The remote's failure, once the budget of attempts is used up.
  func run() async throws(SyncError) -> Answer? {
    let lookup = Lookup(entity: sweep.entity, environment: environment, stop: stop)
    var answer = Answer()
    var last: String?
    repeat {
      if stop.isRaised { return nil }
      guard let found = try await lookup.ask(after: last) else { return nil }
      answer.requests += found.requests
      answer.absent.formUnion(Set(found.asked).subtracting(found.present.compactMap(\.id)))
      if !found.present.isEmpty { answer.tallies.append(try await merge(found.present)) }
      last = found.asked.last?.key
    } while last != nil
    return answer
  }

  private func merge(_ present: [RecordChange]) async throws(SyncError) -> Tally {
    let sweep = sweep
    return try await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
      var merge = PageMerge(sweep.entity, context: sweep.context)
      merge.tally.noteAnswers(of: sweep.entity.type, count: present.count)
      try merge.mergeAndRelease(present.map { Incoming($0) }, in: transaction)
      try ArrivedDuplicates.note(merge.tally.changed, of: sweep.context.schema, in: transaction)
      return merge.tally
    }
  }
}
