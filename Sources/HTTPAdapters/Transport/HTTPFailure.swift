package import SyncJSON
package import SyncModels

/// The failures that transports have in common.
package enum HTTPFailure {
  package static func tooLong(_ request: HTTPRequest, during operation: String? = nil) -> SyncError {
    SyncError(
      .invalidResponse, during: operation ?? asking(request),
      "The answer is longer than the \(Counted(request.bodyLimit, "byte that is", "bytes that are")) allowed.",
      underlying: TooLong())
  }

  /// Marks an answer that was too long.
  ///
  /// A caller may then request a smaller part of a list.
  package struct TooLong: Error {}

  package static func tooManyHeaders(
    _ request: HTTPRequest, limit: Int, underlying: (any Error)? = nil
  ) -> SyncError {
    SyncError(
      .invalidResponse, during: asking(request),
      "The answer's headers are longer than the \(Counted(limit, "byte that is", "bytes that are")) allowed.",
      underlying: underlying)
  }

  package static func compressed(_ request: HTTPRequest, during operation: String? = nil) -> SyncError {
    SyncError(
      .invalidResponse, during: operation ?? asking(request),
      "The server sends a compressed body, which was not requested.")
  }

  package static func unreadable(_ error: JSONError, during operation: String) -> SyncError {
    SyncError(.invalidResponse, during: operation, "The answer \(error.description).", underlying: error)
  }

  package static func noHTTP(_ request: HTTPRequest, underlying: (any Error)? = nil) -> SyncError {
    SyncError(.invalidResponse, during: asking(request), "The answer is not HTTP.", underlying: underlying)
  }

  package static func cut(_ request: HTTPRequest, underlying: (any Error)? = nil) -> SyncError {
    SyncError(
      .remoteUnavailable, during: asking(request),
      "There is no complete answer from \(request.address.origin).", underlying: underlying)
  }

  package static func untrusted(
    _ request: HTTPRequest, reason: String = "", underlying: (any Error)? = nil
  ) -> SyncError {
    SyncError(
      .untrustedServer, during: asking(request),
      "The certificate is not trusted, so nothing was sent to \(request.address.origin)\(reason.isEmpty ? "" : ": \(reason)").",
      underlying: underlying)
  }

  package static func silent(_ request: HTTPRequest, for duration: Duration) -> SyncError {
    SyncError(
      .remoteUnavailable, during: asking(request), "The server did not begin to answer within \(duration).")
  }

  package static func tooSlow(_ request: HTTPRequest) -> SyncError {
    SyncError(
      .remoteUnavailable, during: asking(request),
      "The server did not complete its answer within \(request.deadline).")
  }

  package static func cancelled(_ request: HTTPRequest) -> SyncError {
    SyncError(.cancelled, during: asking(request))
  }

  package static func asking(_ request: HTTPRequest) -> String { "asking \(request.address.origin)" }
}
