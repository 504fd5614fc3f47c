import SyncModels

/// Sends requests to one origin, with the credentials that belong to it, and to no other.
struct OriginClient: Sendable {
  let origin: HTTPOrigin
  let credentials: HTTPCredentials?
  let transport: any HTTPTransport
  let deadline: Duration
  let bodyLimit: Int

  /// How many redirects within the origin are followed.
  static let redirectLimit = 3

  /// Asks for something, and follows redirects as long as they stay within the origin.
  ///
  /// - Throws: What the transport throws, with `operation` as what was being done; `invalidResponse` for a redirect elsewhere and for a
  ///   compressed body, which nobody asked for.
  func send(
    _ method: String, _ address: HTTPAddress, headers: HTTPHeaders = [:], body: [UInt8] = [],
    repeatsSafely: Bool = false, during operation: String
  ) async throws(SyncError) -> HTTPResponse {
    var request = HTTPRequest(
      method, address, headers: headers, body: body, deadline: deadline, bodyLimit: bodyLimit)
    request.repeatsSafely = repeatsSafely
    request.headers["Accept"] = "application/json"
    // Compressed, a small answer could be any size; and what a cap would have to count is not what comes over the wire.
    request.headers["Accept-Encoding"] = "identity"
    for _ in 0...Self.redirectLimit {
      guard request.address.origin == origin else {
        throw SyncError(
          .invalidResponse, during: operation,
          "The server redirects to \(request.address.origin), which is not where it was asked; nothing was sent there."
        )
      }
      request.headers["Authorization"] = credentials?.headerValue
      let response = try await response(to: request, during: operation)
      guard [301, 302, 303, 307, 308].contains(response.status) else { return response }
      guard let next = response.headers["Location"].flatMap(request.address.resolving) else {
        throw SyncError(
          .invalidResponse, during: operation, "The server redirects to what is no address.")
      }
      request.address = next
    }
    throw SyncError(.invalidResponse, during: operation, "The server redirects in a circle.")
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
    // A transport of somebody else's may not count.
    guard response.body.count <= request.bodyLimit else {
      throw HTTPFailure.tooLong(request, during: operation)
    }
    return response
  }
}
