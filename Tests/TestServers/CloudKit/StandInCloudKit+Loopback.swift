#if CloudKit && os(Linux)
  import Foundation
  import HTTPAdapters
  import SyncConformance

  extension StandInCloudKit {
    /// Runs a body with the stand-in behind a port of this machine.
    ///
    /// - Parameter body: Receives the endpoint.
    package func serve(_ body: (_ endpoint: String) async throws -> Void) async throws {
      try await LoopbackServer.following(
        { [self] request, send in
          let lines = request.head.split(separator: "\r\n").map(String.init)
          let parts = lines.first?.split(separator: " ").map(String.init) ?? []
          var headers: HTTPHeaders = [:]
          for line in lines.dropFirst() {
            let pair = line.split(separator: ":", maxSplits: 1).map(String.init)
            if pair.count == 2 { headers[pair[0]] = pair[1].trimmingCharacters(in: .whitespaces) }
          }
          guard parts.count == 3,
            let answer = answer(method: parts[0], target: parts[1], headers: headers, body: request.body)
          else { return false }
          var head = "HTTP/1.1 \(answer.status) Answer\r\nContent-Length: \(answer.body.count)\r\n"
          for (name, value) in answer.headers.fields { head += "\(name): \(value)\r\n" }
          return send(Array("\(head)\r\n".utf8) + answer.body)
        }
      ) { server in try await body(server.origin) }
    }
  }
#endif
