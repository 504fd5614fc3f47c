package import SyncModels

extension HTTPFailure {
  /// The error that an unexpected status means to a caller.
  ///
  /// - Parameters:
  ///   - awaited: The expected answer, as in `an answer to a request for a page`.
  ///   - detail: The server's own code for the failure. It must not quote a record.
  ///   - special: The statuses that mean something else to this server, each with a code and the
  ///     rest of the sentence that begins with the status.
  package static func status(
    _ response: HTTPResponse, during operation: String, awaited: String, detail: String? = nil,
    special: [Int: (code: SyncError.Code, message: String)] = [:]
  ) -> SyncError {
    let status = "The server answered \(response.status)\(detail.map { " (\($0))" } ?? "")"
    let meaning = special[response.status] ?? meaning(of: response.status, awaited: awaited)
    return SyncError(
      meaning.code, during: operation, status + meaning.message,
      retryAfter: meaning.code == .remoteUnavailable ? RequestedPause.retryAfter(in: response) : nil)
  }

  private static func meaning(
    of status: Int, awaited: String
  ) -> (code: SyncError.Code, message: String) {
    switch status {
    case 401: (.authentication, ": the credentials are not accepted.")
    case 403: (.permissionDenied, ": these credentials may not do that.")
    case 408, 429, 500...599: (.remoteUnavailable, ".")
    case 400...499: (.invalidConfiguration, ": the server does not understand the request.")
    default: (.invalidResponse, ", which is not \(awaited).")
    }
  }
}
