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

  package static func unreadable(
    _ error: JSONError, of response: HTTPResponse? = nil, during operation: String
  ) -> SyncError {
    let place = response.map { origin(of: $0) + beginning(of: $0) } ?? ""
    return SyncError(
      .invalidResponse, during: operation, "The answer \(error.description)\(place).", underlying: error)
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
      .remoteUnavailable, during: asking(request), "The server did not begin to answer within \(duration).",
      underlying: TooSlow())
  }

  package static func tooSlow(_ request: HTTPRequest) -> SyncError {
    SyncError(
      .remoteUnavailable, during: asking(request),
      "The server did not complete its answer within \(request.deadline).", underlying: TooSlow())
  }

  /// Marks an answer that took too long, of which a smaller part may come in time.
  package struct TooSlow: Error {}

  package static func cancelled(_ request: HTTPRequest) -> SyncError {
    SyncError(.cancelled, during: asking(request))
  }

  package static func asking(_ request: HTTPRequest) -> String { "asking \(request.address.origin)" }
}

extension HTTPFailure {
  /// The server's own words about a refused request, as the end of a sentence.
  ///
  /// They are the first 200 characters of what the common formats of errors call the message.
  package static func words(of response: HTTPResponse) -> String {
    guard let value = try? JSONValueSlice(checking: response.body[...]) else {
      return beginning(of: response)
    }
    return message(in: value).map { ": \($0)" } ?? ""
  }

  /// What the common formats of errors call the message: its first 200 characters.
  static func message(in value: JSONValueSlice) -> String? {
    let pointers: [JSONPointer] = [
      "/message", "/error/message", "/error_description", "/detail", "/error", "/title",
    ]
    let found = JSONPointer.values(at: pointers, in: value).lazy.compactMap { $0?.string() }.first {
      !$0.isEmpty
    }
    return found.map { String($0.prefix(200)) }
  }

  /// The beginning of an answer that is a page for people, as the end of a sentence.
  package static func beginning(of response: HTTPResponse) -> String {
    guard response.headers["Content-Type"]?.lowercased().contains("html") == true else { return "" }
    let text = String(decoding: response.body.prefix(400), as: UTF8.self)
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return words.isEmpty ? "" : ": it begins with \"\(words.prefix(100))\""
  }

  /// Where an answer comes from, and what it is, in parentheses; empty if that is not known.
  ///
  /// The query is left out, since it may hold secrets.
  package static func origin(of response: HTTPResponse) -> String {
    guard let address = response.address else { return "" }
    let type = response.headers["Content-Type"]?.prefix { $0 != ";" }
    return " (\(address.origin)\(address.path)\(type.map { ", \($0.prefix(60))" } ?? ""))"
  }

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
    if let pause = RequestedPause.limit(in: response) {
      return SyncError(
        .remoteUnavailable, during: operation, status + ": too many requests\(words(of: response)).",
        retryAfter: pause)
    }
    let meaning = special[response.status] ?? meaning(of: response.status, awaited: awaited)
    let told = origin(of: response) + words(of: response)
    let message =
      meaning.message.hasSuffix(".") ? "\(meaning.message.dropLast())\(told)." : meaning.message + told
    return SyncError(
      meaning.code, during: operation, status + message,
      retryAfter: meaning.code == .remoteUnavailable ? RequestedPause.retryAfter(in: response) : nil)
  }

  /// What a status says that denies a request whatever it is about; `nil` for any other status.
  package static func denial(_ status: Int) -> String? {
    switch status {
    case 402: "it has to be paid for first"
    case 451: "it is denied for legal reasons"
    default: nil
    }
  }

  private static func meaning(
    of status: Int, awaited: String
  ) -> (code: SyncError.Code, message: String) {
    if let denial = denial(status) { return (.permissionDenied, ": \(denial).") }
    return switch status {
    case 401: (.authentication, ": the credentials are not accepted.")
    case 403: (.permissionDenied, ": these credentials may not do that.")
    // Another one holds a lock (423), or it is too early (425).
    case 408, 423, 425, 429, 500...599: (.remoteUnavailable, ".")
    case 400...499: (.invalidConfiguration, ": the server does not understand the request.")
    default: (.invalidResponse, ", which is not \(awaited).")
    }
  }
}
