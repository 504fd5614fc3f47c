import SyncModels
import Synchronization

/// Connections that end before the answer does.
enum CutChecks {
  private static let page =
    #"{"data":[{"id":"a","last_modified":1700000000001,"value":"é"},{"id":"b","last_modified":1700000000002}]}"#
  private static let headers =
    "Date: Sat, 21 Nov 2026 09:51:24 GMT\r\nETag: \"1700000000002\"\r\nContent-Type: application/json\r\n"

  static func everyCutOfAPlainAnswerIsAFailure(_ bench: TransportBench) async throws {
    try await cut(TransportBench.answer(page, headers), needing: 1, bench)
  }

  static func everyCutOfAChunkedAnswerIsAFailure(_ bench: TransportBench) async throws {
    let half = page.utf8.count / 2
    let chunks = [page.utf8.prefix(half), page.utf8.dropFirst(half)].map { chunk in
      "\(String(chunk.count, radix: 16))\r\n\(String(decoding: chunk, as: UTF8.self))\r\n"
    }
    // After the last chunk's line, only an empty line is missing.
    try await cut(
      "HTTP/1.1 200 OK\r\n\(headers)Transfer-Encoding: chunked\r\n\r\n\(chunks.joined())0\r\n\r\n",
      needing: 3,
      bench)
  }

  /// Cuts an answer after each of its bytes, except the last ones.
  ///
  /// Without the last bytes, it may count as complete.
  private static func cut(_ answer: String, needing rest: Int, _ bench: TransportBench) async throws {
    let bytes = Array(answer.utf8)
    let length = Length()
    try await bench.serving({ _, send in
      _ = send(Array(bytes.prefix(length.value.withLock { $0 })))
      return false
    }) { server in
      for count in 0...(bytes.count - rest) {
        length.value.withLock { $0 = count }
        try await bench.expectFailure(
          .remoteUnavailable,
          "An answer that is cut after \(count) of \(bytes.count) bytes may come whole later.",
          asking: server)
      }
      length.value.withLock { $0 = bytes.count }
      try expect(
        try await bench.get(server).body, equals: Array(page.utf8), "An answer that is not cut comes whole.")
    }
  }

  /// The number of bytes that a server sends.
  private final class Length: Sendable {
    let value = Mutex(0)
  }

  static func bodyThatTheConnectionEndsIsWholeOnceItsJSONEnds(_ bench: TransportBench) async throws {
    let head = "HTTP/1.1 200 OK\r\n\(headers)\r\n"
    for (body, isWhole) in [
      (page, true), (page + "\n", true), ("[]", true), (String(page.dropLast()), false), ("", false),
      ("1234", false), ("[1]2", false), ("<html></html>", false),
    ] {
      try await bench.serving(head + body, thenCloses: true) { server in
        if isWhole {
          let answer = try await bench.get(server)
          try expect(answer.body, equals: Array(body.utf8), "JSON that ends is complete.")
        } else {
          try await bench.expectFailure(
            .remoteUnavailable,
            "A body that only the connection's end delimits is cut unless its JSON ends: \(body)",
            asking: server)
        }
      }
    }
    try await bench.serving("HTTP/1.1 403 Forbidden\r\n\r\nNo.", thenCloses: true) { server in
      try expect(try await bench.get(server).status, equals: 403, "A refusal needs no body.")
    }
  }

  static func whatIsNoHTTPIsAFailure(_ bench: TransportBench) async throws {
    for text in ["SSH-2.0-OpenSSH_9.2\r\n", "\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "{\"data\":[]}"] {
      try await bench.serving(text, thenCloses: true) { server in
        do {
          let answer = try await bench.get(server)
          throw ConformanceFailure(
            "Bytes that are not HTTP are not an answer. \(text) became \(answer.status).")
        } catch let error as SyncError {
          try expect(
            error.code.isRetryable, "The error for bytes that are not HTTP is retryable. Found \(error).")
        }
      }
    }
  }
}
