import CanonicalSync

/// The answer to a request, for any web framework.
package struct Answer: Hashable, Sendable {
  package var status: Int
  package var contentType: String
  package var body: String

  package init(_ status: Int, _ body: String, contentType: String = "text/plain; charset=utf-8") {
    self.status = status
    self.contentType = contentType
    self.body = body
  }
}

extension ScheduleService {
  /// Answers a GET request for a path.
  package func answer(_ path: String) async -> Answer {
    let parts = path.split(separator: "/").map(String.init)
    do throws(SyncError) {
      switch (parts.first, parts.count) {
      case ("health", 1):
        try await checkHealth()
        return Answer(200, "ok\n")
      case ("metrics", 1):
        return Answer(200, try await metricsText(), contentType: "text/plain; version=0.0.4; charset=utf-8")
      case ("games", 2):
        let lines = try await games(on: parts[1]).map { "\($0.id): \($0.away) at \($0.home)\n" }
        return Answer(200, lines.joined())
      default: return Answer(404, "not found\n")
      }
    } catch {
      // The error's text may name records, and is none of the client's business. Its code does not.
      return Answer(503, "\(error.code)\n")
    }
  }
}
