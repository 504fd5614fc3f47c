import SyncModels

/// The steps after a failed request: retry, split, search for the edit at fault, or give up.
extension PushMachine {
  /// Records that a request failed with unknown effects.
  ///
  /// - Parameter random: 64 random bits.
  mutating func failed(_ error: SyncError, random: UInt64) -> Action {
    let failures = failedAttempts + 1
    guard case .sending = state, let batch = batches.first else {
      if let pause = settings.retry.pause(afterFailures: failures, error: error, random: random) {
        state = .askingLimits(failures: failures)
        return .wait(pause)
      }
      // A sink that fails to give its limits accepts no type's edits.
      return giveUp(error, of: Set(legs.map(\.type)))
    }
    if error.code == .batchTooLarge { return split(batch, error) }
    if error.code == .quotaExceeded {
      state = .settling
      return .settle(batch.map { PushAnswer(entry: $0, outcome: .quotaExceeded) })
    }
    // A search sends each part once, as its result says more than a second attempt.
    if search == nil,
      let pause = settings.retry.pause(afterFailures: failures, error: error, random: random)
    {
      state = .sending(failures: failures)
      return .wait(pause)
    }
    if error.mayBeAboutOne(of: batch.count), error.retryAfter ?? .zero <= settings.retry.cap {
      return narrow(batch, error)
    }
    return giveUp(error)
  }

  /// Looks for the edits at which the remote fails.
  private mutating func narrow(_ batch: [OutboxEntry], _ error: SyncError) -> Action {
    var search = search ?? EditSearch()
    let step = search.failed(batch, error)
    self.search = search
    switch step {
    case .send(let parts): batches.replaceSubrange(0..<1, with: parts)
    case .isolate(let entry):
      batches.removeFirst()
      state = .isolating(pause: error.retryAfter)
      return .isolate(entry, EditFailure(error, isProven: true))
    case .tryAnother: batches.removeFirst()
    case .giveUp: return giveUp(error)
    }
    return pause(for: error.retryAfter)
  }

  /// Waits as long as the remote asked for, before the next step.
  private mutating func pause(for pause: Duration?) -> Action {
    guard let pause else { return next() }
    state = .pausing
    return .wait(pause)
  }

  private mutating func giveUp(_ error: SyncError) -> Action {
    giveUp(error, of: type.map { [$0] } ?? [])
  }

  /// Ends the push of some types, or of all if other types may fail too.
  private mutating func giveUp(_ error: SyncError, of barred: Set<RecordType>) -> Action {
    suspects += search?.suspects ?? []
    search = nil
    guard error.endsOneTypeAlone || error.isAboutEdits && !batches.isEmpty else { return end(error) }
    for leg in legs where barred.contains(leg.type) && !typeFailures.contains(where: { $0.type == leg.type })
    {
      typeFailures.append((leg.type, error))
    }
    begin(legs.filter { !barred.contains($0.type) }[...])
    return next()
  }

  /// Records that the isolated edit is in the store.
  mutating func isolated() -> Action {
    if batches.isEmpty { search = nil }
    if case .isolating(let pause) = state { return self.pause(for: pause) }
    return next()
  }

  /// Sends a batch in two halves, or refuses an edit that is too large alone.
  private mutating func split(_ batch: [OutboxEntry], _ error: SyncError) -> Action {
    guard batch.count > 1 else {
      let reason = error.message.isEmpty ? "It is larger than the remote accepts." : error.message
      state = .settling
      return .settle(batch.map { PushAnswer(entry: $0, outcome: .refused(reason: reason)) })
    }
    let middle = batch.count / 2
    batches.replaceSubrange(0..<1, with: [Array(batch[..<middle]), Array(batch[middle...])])
    return next()
  }
}
