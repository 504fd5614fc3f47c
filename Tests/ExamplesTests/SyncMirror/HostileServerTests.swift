#if SQLite
  import CanonicalSyncTestServers
  import Foundation
  import Testing

  /// Hostile server answers, each in its own process.
  ///
  /// The result is a clear error or withheld records, and no byte is sent to another server.
  @Suite("A mirror of a hostile server", .timeLimit(.minutes(10)))
  struct HostileServerTests {
    /// A server's answer, given the origin of another server.
    struct Trick: Sendable, CustomTestStringConvertible {
      var testDescription: String
      /// The tool's error code; `nil` if it continues and withholds the record.
      var code: String?
      var quarantined = 0
      var answer: @Sendable (_ other: String, _ own: String, _ send: ([UInt8]) -> Bool) -> Void
    }

    private static let path = "/v1/buckets/b/collections/items/records"

    private static func page(_ elements: String, _ headers: String = "") -> [UInt8] {
      let body = "{\"data\":[\(elements)]}"
      return Array(
        "HTTP/1.1 200 OK\r\nETag: \"5000\"\r\nTotal-Objects: 1\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
          .utf8)
    }

    private static func record(_ id: String, _ members: String) -> String { #"{"id":"\#(id)",\#(members)}"# }

    static let tricks: [Trick] = [
      Trick(testDescription: "a next page on another host", code: "invalidResponse") { other, _, send in
        _ = send(page(record("a", #""last_modified":1"#), "Next-Page: \(other)\(path)?_token=1\r\n"))
      },
      Trick(testDescription: "a redirect to another origin", code: "invalidResponse") { other, _, send in
        _ = send(
          Array("HTTP/1.1 307 Go\r\nLocation: \(other)\(path)\r\nContent-Length: 0\r\n\r\n".utf8))
      },
      Trick(testDescription: "an endless body", code: "invalidResponse") { _, _, send in
        let block = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 18)
        _ = send(Array("HTTP/1.1 200 OK\r\nETag: \"5000\"\r\n\r\n".utf8))
        while send(block) {}
      },
      Trick(testDescription: "brackets without end", code: "invalidResponse") { _, _, send in
        let body = "{\"data\":" + String(repeating: "[", count: 1_000_000)
        _ = send(
          Array(
            "HTTP/1.1 200 OK\r\nETag: \"5000\"\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8))
      },
      Trick(testDescription: "a token that never advances", code: "invalidResponse") { _, own, send in
        _ = send(
          page(
            record("a", #""last_modified":1"#),
            "Next-Page: \(own)\(path)?_sort=last_modified%2Cid&_token=1\r\n"))
      },
      Trick(testDescription: "no HTTP at all", code: "invalidResponse") { _, _, send in
        _ = send(Array("\u{1}\u{2}\u{3} hello\r\n\r\n".utf8))
      },
      Trick(testDescription: "records that are none", quarantined: 4) { _, _, send in
        let deep =
          #""last_modified":3,"deep":"# + String(repeating: "[", count: 10_000)
          + String(repeating: "]", count: 10_000)
        let elements = [
          record("a", #""last_modified":-1"#), record("b", #""last_modified":1e999"#), record("c", deep),
          "[]",
          record(#"it's \"quoted\" \u0000"#, #""last_modified":4,"number":1e999"#),
        ]
        _ = send(page(elements.joined(separator: ",")))
      },
    ]

    @Test(arguments: tricks)
    func endsClearly(_ trick: Trick) async throws {
      try await LoopbackServer.with(LoopbackServer.fixed("")) { other in
        try await LoopbackServer.with({ head, send in
          let own = head.split(separator: "\r\n").first { $0.hasPrefix("Host: ") }?.dropFirst(6) ?? ""
          trick.answer(other.origin, "http://\(own)", send)
        }) { server in
          try await withFolder { folder in
            let outcome = try await MirroredBucket.tool.run(
              "--server", "\(server.origin)/v1", "--bucket", "b", "--collection", "items", "--store",
              folder.path("m.sqlite"), "--auth", "me:hunter2", "--json")
            #expect(!outcome.wasKilled)
            #expect(outcome.status == (trick.code == nil ? 0 : 1), "\(outcome.errors)")
            let failures = try outcome.json["failures"] as? [String: String]
            let code = try outcome.json["error"] as? String ?? failures?["items"]
            #expect(code == trick.code, "\(outcome.output)")
            if trick.code == nil { #expect(try outcome.count("quarantined") == trick.quarantined) }
            #expect(try (1..<256 << 20).contains(outcome.count("peakBytes")))
            #expect(!(outcome.output + outcome.errors).contains("hunter2"))
            #expect(other.connections == 0)
          }
        }
      }
    }
  }
#endif
