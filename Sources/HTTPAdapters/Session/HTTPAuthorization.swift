package import SyncModels

/// The part of a session that makes its requests acceptable to the server.
package protocol HTTPAuthorization: Sendable {
  /// Whether headers can hold the values. A line break would begin another header.
  ///
  /// `true` for values that are known only when a request is sent.
  var isSendable: Bool { get }

  /// Whether the credentials may be others by themselves after a refusal.
  var mayChange: Bool { get }

  /// Adds credentials to a request that is about to be sent to the session's origin.
  ///
  /// It is called anew for each attempt and for each redirect, so that a signature and its time
  /// are those of the attempt. The address keeps its origin.
  func authorize(_ request: inout HTTPRequest) async throws(SyncError)

  /// Receives each answer. A server may replace a token that serves for one request.
  func receive(_ response: HTTPResponse)

  /// Obtains other credentials after a 401, and returns whether there are any.
  ///
  /// - Parameter refused: The request as it was sent.
  func renew(after refused: HTTPRequest) async throws(SyncError) -> Bool

  /// Short texts that differ for other credentials and do not reveal them.
  ///
  /// The last one is of the current credentials, and those before it are of their predecessors in
  /// this process. Empty if nothing tells whose credentials these are.
  func fingerprints() async throws(SyncError) -> [String]
}

extension HTTPAuthorization {
  package var isSendable: Bool { true }
  package var mayChange: Bool { false }
  package func receive(_ response: HTTPResponse) {}
  package func renew(after refused: HTTPRequest) async throws(SyncError) -> Bool { false }
  package func fingerprints() async throws(SyncError) -> [String] { [] }
}
