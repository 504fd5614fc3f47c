public import SyncModels

/// Who carries one request to a server and brings its answer back.
///
/// For whoever implements it: carry what you are given, and leave what an answer means to the adapters. Credentials are in the
/// request's headers where its address may have them; nothing else of the process (cookies, stored passwords, cached answers) goes along.
public protocol HTTPTransport: Sendable {
  /// Sends a request, and returns the answer whatever its status says.
  ///
  /// - A redirect is an answer like any other: it is never followed here.
  /// - The body is as it came, without a decompression that the request's `Accept-Encoding` did not ask for.
  /// - An answer is whole or none: where only the connection's end delimits the body of a 2xx, the body is JSON that ends.
  /// - A header that comes more than once has its values joined by commas.
  /// - Connections are kept for later requests to the same origin. What is not ``HTTPRequest/mayBeRepeated`` reaches the server once at most, even if
  ///   a kept connection ends without an answer.
  /// - No proxy is used unless the program names one.
  /// - Throws: `remoteUnavailable` when there is no connection, it breaks before the answer's end, or the request's deadline
  ///   passes; ``HTTPRequest/answerTooLong`` when the body has more bytes than the request allows, found out while they come in;
  ///   `invalidResponse` when the answer is no HTTP; `untrustedServer` when the server's certificate does not show that it is the one asked for; `cancelled` when the calling task is
  ///   cancelled, which ends the transfer at once.
  func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse
}
