package import SyncModels
package import SyncPorts

extension Transfer {
  /// Starts, and returns the whole answer, unless a deadline passes first.
  ///
  /// - Parameters:
  ///   - clock: What the request's deadline is measured by.
  ///   - firstByte: How long the server may take until its answer begins; `nil` for as long as the whole may take.
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
      // The slower task is cancelled and waited for: nothing outlives the call.
      defer { group.cancelAll() }
      for await outcome in group {
        if let outcome { return outcome }
      }
      return .failure(HTTPFailure.cancelled(request))
    }
  }

  /// Waits for the deadlines; `nil` when cancelled meanwhile.
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
