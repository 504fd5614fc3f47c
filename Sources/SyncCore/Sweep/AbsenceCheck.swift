import SyncModels
import SyncPorts

/// Looks up all records that a listing lacked, before the sweep removes any of them.
struct AbsenceCheck {
  let sweep: Sweep
  let session: SyncSession

  /// The result of the lookups.
  struct Answer: Sendable {
    /// The records that the remote does not have.
    var absent: Set<RecordID> = []
    /// The merges of the copies that the remote still has.
    var tallies: [Tally] = []
    var requests = 0
  }

  /// Looks up the records, portion by portion.
  ///
  /// Copies that the remote still has are merged, or staged, as a page of the listing would be.
  ///
  /// - Returns: The result; `nil` after a request to stop the sync.
  /// - Throws: The remote's failure, once the budget of attempts is used up.
  func run() async throws(SyncError) -> Answer? {
    let lookup = Lookup(entity: sweep.entity, session: session)
    var answer = Answer()
    var last: String?
    repeat {
      if session.isStopped { return nil }
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
    return try await session.write { (transaction) throws(SyncError) in
      var merge = PageMerge(sweep.entity, context: sweep.context)
      merge.tally.noteAnswers(of: sweep.entity.type, count: present.count)
      try merge.mergeAndRelease(present.map { Incoming($0) }, in: transaction)
      try ArrivedDuplicates.remember(merge.tally.changed, of: sweep.context.schema, in: transaction)
      return merge.tally
    }
  }
}
