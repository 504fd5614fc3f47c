package import SyncModels

/// The part of a session that makes its requests acceptable to the server.
package protocol HTTPAuthorization: Sendable {
  /// Whether headers can hold the values. A line break would begin another header.
  ///
  /// `true` for values that are known only when a request is sent.
  var isSendable: Bool { get }

  /// Adds credentials to a request that is about to be sent to the session's origin.
  ///
  /// It is called anew for each attempt and for each redirect, so that a signature and its time
  /// are those of the attempt. The address keeps its origin.
  func authorize(_ request: inout HTTPRequest) async throws(SyncError)

  /// Receives each answer. A server may replace a token that serves for one request.
  func receive(_ response: HTTPResponse)
}

extension HTTPAuthorization {
  package var isSendable: Bool { true }
  package func receive(_ response: HTTPResponse) {}
}
