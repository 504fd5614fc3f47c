import SyncModels

/// The fidelity of requests and answers.
enum ExchangeChecks {
  static func answersComeWhole(_ bench: TransportBench) async throws {
    let statuses = [
      "200 OK", "204 No Content", "304 Not Modified", "401 Unauthorized", "403 Forbidden",
      "412 Precondition Failed",
      "503 Busy",
    ]
    for status in statuses {
      let hasBody = !status.hasPrefix("204") && !status.hasPrefix("304")
      let headers = "ETag: \"5\"\r\nWWW-Authenticate: Basic realm=\"r\"\r\nX-Empty:\r\n"
      let text =
        hasBody
        ? TransportBench.answer("hello", headers, status: status) : "HTTP/1.1 \(status)\r\n\(headers)\r\n"
      try await bench.serving(text) { server in
        let answer = try await bench.get(server)
        let sentence = "An answer comes with its status, its headers and its body."
        try expect("\(answer.status)", equals: String(status.prefix(3)), sentence)
        try expect(answer.headers["etag"], equals: "\"5\"", sentence)
        try expect(answer.body, equals: hasBody ? Array("hello".utf8) : [], sentence)
      }
    }
  }

  static func requestsArriveAsTheyAre(_ bench: TransportBench) async throws {
    try await bench.serving(TransportBench.answer("", "Set-Cookie: a=b\r\n")) { server in
      for method in ["GET", "PUT", "POST", "DELETE"] {
        for body in method == "GET" || method == "DELETE" ? [""] : ["", "{\"data\":\"\u{0}é\"}"] {
          var request = bench.request(server, "/v1/a%2Fb/c?x=%2C1&y='", method: method)
          request.headers = ["X-Mine": "yes: it is"]
          request.body = Array(body.utf8)
          _ = try await bench.harness.send(request)
          let arrived = server.requests.last
          let head = arrived?.head.lowercased() ?? ""
          let sentence = "A \(method) arrives unchanged, without additions."
          try expect(
            arrived?.head.hasPrefix("\(method) /v1/a%2Fb/c?x=%2C1&y=' HTTP/1.1\r\n") == true, sentence)
          try expect(head.contains("\r\nx-mine: yes: it is\r\n"), sentence)
          try expect(head.contains("\r\naccept-encoding: identity\r\n"), sentence)
          try expect(!head.contains("cookie") && !head.contains("expect:"), sentence)
          try expect(arrived?.body ?? [], equals: Array(body.utf8), sentence)
        }
      }
    }
  }

  static func redirectsAreAnswers(_ bench: TransportBench) async throws {
    try await bench.serving(TransportBench.answer("")) { other in
      let redirect = TransportBench.answer(
        "", "Location: \(other.origin)/stolen\r\n", status: "307 Temporary Redirect")
      try await bench.serving(redirect) { server in
        var request = bench.request(server)
        request.headers["Authorization"] = "Bearer secret"
        let answer = try await bench.harness.send(request)
        try expect(answer.status, equals: 307, "A redirect is an answer.")
        try expect(answer.headers["location"], equals: "\(other.origin)/stolen", "It says where it leads.")
        try expect(other.connections, equals: 0, "No redirect is followed.")
        try expect(server.requests.count, equals: 1, "No redirect is followed.")
      }
    }
  }

  static func interimAnswersAreNone(_ bench: TransportBench) async throws {
    let interim = "HTTP/1.1 103 Early Hints\r\nETag: \"1\"\r\n\r\n"
    try await bench.serving(interim + interim + TransportBench.answer("hello", "ETag: \"2\"\r\n")) { server in
      let answer = try await bench.get(server)
      try expect(answer.status, equals: 200, "An interim answer is skipped.")
      try expect(answer.headers["etag"], equals: "\"2\"", "Headers are those of the answer itself.")
      try expect(answer.body, equals: Array("hello".utf8), "An interim answer is skipped.")
    }
  }

  static func connectionsAreKept(_ bench: TransportBench) async throws {
    try await bench.serving(TransportBench.answer("x", "Set-Cookie: a=b\r\n")) { server in
      for _ in 1...5 { _ = try await bench.get(server) }
      try expect(server.requests.count, equals: 5, "Each request arrives.")
      try expect(server.connections, equals: 1, "A connection is kept for later requests.")
      let cookies = server.requests.count { $0.head.lowercased().contains("cookie:") }
      try expect(cookies, equals: 0, "No cookie is kept.")
    }
  }
}
