import SyncModels

/// The failures that transports have in common.
enum HTTPFailure {
  static func tooLong(_ request: HTTPRequest, during operation: String? = nil) -> SyncError {
    SyncError(
      .invalidResponse, during: operation ?? "asking \(request.address.origin)",
      "The answer is longer than the \(Counted(request.bodyLimit, "byte that is", "bytes that are")) allowed."
    )
  }

  static func compressed(_ request: HTTPRequest, during operation: String? = nil) -> SyncError {
    SyncError(
      .invalidResponse, during: operation ?? "asking \(request.address.origin)",
      "The server sends a compressed body, which it was not asked for.")
  }

  static func tooSlow(_ request: HTTPRequest) -> SyncError {
    SyncError(
      .remoteUnavailable, during: "asking \(request.address.origin)",
      "The server did not complete its answer within \(request.deadline).")
  }

  static func cancelled(_ request: HTTPRequest) -> SyncError {
    SyncError(.cancelled, during: "asking \(request.address.origin)")
  }
}
