#if SQLite
  import CanonicalSyncTestServers
  import Foundation
  import Testing

  /// The reported memory of a mirror, while a tenth of the requests fail.
  @Suite("The memory of a mirror", .serialized, .timeLimit(.minutes(20)))
  struct MirrorMemoryTests {
    enum Remote: CaseIterable { case kinto, api }

    @Test(arguments: Remote.allCases)
    func doesNotGrowWithTheRecords(_ remote: Remote) async throws {
      // Enough to fill the caches, and several times as many.
      let few = try await peak(of: remote, records: 90_000)
      let many = try await peak(of: remote, records: Seeds.isSoak ? 1_000_000 : 240_000)
      #expect(Double(many) < Double(few) * 1.25, "\(few) bytes, and \(many) for more records")
    }

    private func peak(of remote: Remote, records: Int) async throws -> Int {
      try await withFolder { folder in
        var peak = 0
        try await LoopbackServer.with({ head, send in _ = send(Self.answer(head, records)) }) { server in
          try await FaultProxy.with(server: "\(server.origin)/v1", seed: 7, share: 0.1, sparing: [.stall]) {
            proxy in
            let outcome = try await MirroredBucket.tool.start(
              try Self.arguments(of: remote, at: proxy.address, in: folder)
                + ["--store", folder.path("m.sqlite"), "--page-size", "2000", "--json"]
            ).outcome()
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try outcome.count("inserted") == records)
            #expect(proxy.entries.contains { $0.fault != nil })
            peak = try outcome.count("peakBytes")
          }
        }
        #expect(peak > 0)
        return peak
      }
    }

    private static func arguments(
      of remote: Remote, at address: String, in folder: Folder
    ) throws -> [String] {
      switch remote {
      case .kinto: return ["--server", address, "--bucket", "b", "--collection", "items"]
      case .api:
        try folder.write(
          "api.json",
          [
            #"{"base":"\#(address)","types":{"items":{"path":"items","records":"/data","version":"/last_modified","#,
            #""paging":{"cursor":"/cursor","parameter":"_token"},"pageSize":{"parameter":"_limit"}}}}"#,
          ])
        return ["--api", folder.path("api.json")]
      }
    }

    /// The page for a request, in Kinto's format, with a cursor in the answer too.
    private static func answer(_ head: String, _ records: Int) -> [UInt8] {
      let lines = head.split(separator: "\r\n")
      let target = lines.first?.split(separator: " ").dropFirst().first ?? ""
      var query: [Substring: Int] = [:]
      for part in target.split(separator: "?").dropFirst().first?.split(separator: "&") ?? [] {
        let pair = part.split(separator: "=")
        if pair.count == 2 { query[pair[0]] = Int(pair[1]) }
      }
      var headers =
        "HTTP/1.1 200 OK\r\nETag: \"\(records)\"\r\nTotal-Objects: \(records)\r\nConnection: close\r\n"
      let start = query["_token"] ?? 0
      let end = min(records, start + (query["_limit"] ?? 400))
      var cursor = ""
      if end < records {
        cursor = ",\"cursor\":\(end)"
        let host = lines.first { $0.lowercased().hasPrefix("host: ") }?.dropFirst(6) ?? ""
        let path = target.prefix { $0 != "?" }
        headers += "Next-Page: http://\(host)\(path)?_sort=last_modified%2Cid&_token=\(end)\r\n"
      }
      let text = String(repeating: "x", count: 200)
      let elements = (start..<end).map { #"{"id":"k\#($0)","last_modified":\#($0 + 1),"text":"\#(text)"}"# }
      let body = head.hasPrefix("HEAD") ? "" : "{\"data\":[\(elements.joined(separator: ","))]\(cursor)}"
      return Array("\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    }
  }
#endif
