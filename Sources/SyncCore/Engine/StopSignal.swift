package import SyncModels
package import SyncPorts

/// The stop of a sync, by cancellation of its task or of the caller's token.
///
/// All code of a sync checks for a stop here.
package struct StopSignal: Sendable {
  static let pollInterval = Duration.milliseconds(100)

  package var token: (any CancellationToken)?

  package init(token: (any CancellationToken)? = nil) {
    self.token = token
  }

  /// Whether the task or the token was cancelled.
  package var isRaised: Bool {
    return Task.isCancelled || token?.isCancelled == true
  }

  /// Runs some work, and cancels its task once the signal is raised.
  ///
  /// - Returns: The work's result, also after a request to stop.
  func cancelling<R: Sendable>(
    clock: any Clock<Duration>, _ work: @escaping @Sendable () async -> R
  ) async -> R {
    guard token != nil else { return await work() }
    return await running(beside: { await wait(clock: clock) }, work)
  }

  /// Runs some work that ends early once its task is cancelled, as ``cancelling(clock:_:)`` does.
  package func stopping<R: Sendable>(
    clock: any Clock<Duration>, _ work: @escaping @Sendable () async throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await cancelling(clock: clock) { await Result(of: work) }.get()
  }

  /// Walks through a list, portion by portion, until its end or a stop.
  ///
  /// - Parameters:
  ///   - start: The place after which the list begins; `nil` for its beginning.
  ///   - step: Works on the portion after a place, and returns its end; `nil` for the last portion.
  func walk<Place>(
    from start: Place? = nil, _ step: (Place?) async throws(SyncError) -> Place?
  ) async throws(SyncError) -> PhaseEnd {
    var place = start
    repeat {
      if isRaised { return .stopped }
      place = try await step(place)
    } while place != nil
    return .finished
  }

  /// Returns once the token or the task is cancelled.
  func wait(clock: any Clock<Duration>) async {
    guard let token else { return }
    if let source = token as? CancellationSource { return await source.waitUntilCancelled() }
    while !isRaised {
      // A cancelled sleep means that the signal is raised.
      try? await clock.pause(for: Self.pollInterval, as: .cancellation)
    }
  }
}

extension Result where Success: Sendable, Failure == SyncError {
  /// Keeps the result of some work, or its failure.
  init(of work: () async throws(SyncError) -> Success) async {
    do throws(SyncError) {
      self = .success(try await work())
    } catch {
      self = .failure(error)
    }
  }
}
