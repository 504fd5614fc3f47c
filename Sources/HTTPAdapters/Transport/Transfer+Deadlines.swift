package import SyncModels
package import SyncPorts

extension Transfer {
  /// Starts the transfer, and returns the complete answer, unless a deadline passes first.
  ///
  /// - Parameters:
  ///   - clock: Measures the request's deadline.
  ///   - firstByte: The longest time until the answer begins; `nil` for the time of the whole
  ///     answer.
  package func answer(
    by clock: any SyncPorts.Clock<Duration>, firstByteWithin firstByte: Duration? = nil
  ) async throws(SyncError) -> HTTPResponse {
    try await race(clock, firstByte).get()
  }

  private func race(
    _ clock: any SyncPorts.Clock<Duration>, _ firstByte: Duration?
  ) async -> Result<HTTPResponse, SyncError> {
    await withTaskGroup(of: Result<HTTPResponse, SyncError>?.self) { group in
      group.addTask { await self.outcome() }
      group.addTask {
        guard let failure = await self.passedDeadline(clock, firstByte) else { return nil }
        return .failure(failure)
      }
      // The slower task is cancelled and awaited: nothing outlives the call.
      defer { group.cancelAll() }
      for await outcome in group {
        if let outcome { return outcome }
      }
      return .failure(HTTPFailure.cancelled(request))
    }
  }

  /// Waits for the deadlines; `nil` if cancelled meanwhile.
  private func passedDeadline(
    _ clock: any SyncPorts.Clock<Duration>, _ firstByte: Duration?
  ) async -> SyncError? {
    var rest = request.deadline
    do {
      if let firstByte, firstByte < rest {
        try await clock.pause(for: firstByte)
        if !hasFirstByte { return HTTPFailure.silent(request, for: firstByte) }
        rest -= firstByte
      }
      try await clock.pause(for: rest)
      return HTTPFailure.tooSlow(request)
    } catch {
      return nil
    }
  }
}
