import SyncModels

/// Sends requests to one origin, with the credentials for it, and to no other.
struct OriginClient: Sendable {
  let origin: HTTPOrigin
  let credentials: HTTPCredentials?
  let transport: any HTTPTransport
  let deadline: Duration
  let bodyLimit: Int

  /// The number of redirects within the origin that are followed.
  static let redirectLimit = 3

  /// Sends a request, and follows redirects within the origin.
  ///
  /// - Throws: The transport's errors, with `operation` as their operation; `invalidResponse` for a
  ///   redirect elsewhere and for a compressed body, which was not requested.
  func send(
    _ method: String, _ address: HTTPAddress, headers: HTTPHeaders = [:], body: [UInt8] = [],
    repeatsSafely: Bool = false, during operation: String
  ) async throws(SyncError) -> HTTPResponse {
    var request = HTTPRequest(
      method, address, headers: headers, body: body, deadline: deadline, bodyLimit: bodyLimit)
    request.repeatsSafely = repeatsSafely
    request.headers["Accept"] = "application/json"
    // A small compressed answer could have any size, and a limit would have to count other bytes
    // than those on the wire.
    request.headers["Accept-Encoding"] = "identity"
    for _ in 0...Self.redirectLimit {
      guard request.address.origin == origin else {
        throw SyncError(
          .invalidResponse, during: operation,
          "The server redirects to \(request.address.origin), which is another origin; nothing was sent there."
        )
      }
      request.headers["Authorization"] = credentials?.headerValue
      let response = try await response(to: request, during: operation)
      guard [301, 302, 303, 307, 308].contains(response.status) else { return response }
      guard let next = response.headers["Location"].flatMap(request.address.resolving) else {
        throw SyncError(
          .invalidResponse, during: operation, "The server redirects to an invalid address.")
      }
      request.address = next
    }
    throw SyncError(.invalidResponse, during: operation, "The server redirects too many times.")
  }

  private func response(
    to request: HTTPRequest, during operation: String
  ) async throws(SyncError) -> HTTPResponse {
    let response: HTTPResponse
    do {
      response = try await transport.send(request)
    } catch {
      var failure = error
      failure.operation = operation
      throw failure
    }
    let encoding = response.headers["Content-Encoding"]?.lowercased() ?? "identity"
    guard encoding == "identity" || response.body.isEmpty else {
      throw HTTPFailure.compressed(request, during: operation)
    }
    // An app's own transport may not enforce the limit.
    guard response.body.count <= request.bodyLimit else {
      throw HTTPFailure.tooLong(request, during: operation)
    }
    return response
  }
}
