public import SyncModels

/// Carries one request to a server and returns its answer.
///
/// A conforming type sends the request as it is, and leaves the meaning of an answer to the
/// adapters. Credentials are in the request's headers, if its address may have them. Nothing else
/// of the process (cookies, stored passwords, cached answers) is sent.
public protocol HTTPTransport: Sendable {
  /// Whether a body that the request's `Accept-Encoding` asks for is unpacked within the limit.
  ///
  /// The limit then counts the bytes of the unpacked body while they are unpacked, and the answer
  /// has no `Content-Encoding`. By default it is not, and no compressed answer is asked for.
  var boundsCompressedBodies: Bool { get }

  /// Sends a request, and returns the answer whatever its status.
  ///
  /// - A redirect is an answer like any other, and is never followed here.
  /// - The body is as received, without a decompression that the request's `Accept-Encoding` did
  ///   not ask for. Of an error, a compressed body may be left out.
  /// - An answer is complete or an error. If only the connection's end delimits the body of a 2xx,
  ///   the body must be complete JSON.
  /// - The values of a repeated header are joined by commas.
  /// - Connections are kept for later requests to the same origin. A request that is not
  ///   ``HTTPRequest/mayBeRepeated`` reaches the server once at most, even if a kept connection
  ///   ends without an answer.
  /// - No proxy is used unless the program names one.
  /// - Throws: `remoteUnavailable` if there is no connection, the connection breaks before the
  ///   answer's end, or the request's deadline passes; ``HTTPRequest/answerTooLong`` if the body
  ///   has more bytes than the request allows, detected while they arrive; `invalidResponse` if the
  ///   answer is not HTTP; `untrustedServer` if the server's certificate does not prove its
  ///   identity; `cancelled` if the calling task is cancelled, which ends the transfer at once.
  func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse
}

extension HTTPTransport {
  /// Returns `false`: no compressed answer is asked for.
  public var boundsCompressedBodies: Bool { false }
}

/// A failure of a request that tells whether the server may have received it.
package protocol TransportFailure: Error {
  /// Whether the server may have received the request.
  var mayHaveArrived: Bool { get }
}
