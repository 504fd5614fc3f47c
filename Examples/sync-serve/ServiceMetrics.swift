import CanonicalSync
import CanonicalSyncToolSupport
import Synchronization

/// Counts of the answers, in a file that the textfile collector of node_exporter reads.
final class ServiceMetrics: Sendable {
  private let file: PageFile
  private let answers = Mutex<[Int: (count: Int, seconds: Double)]>([:])
  private let hasFailed = Mutex(false)

  /// - Throws: `invalidConfiguration` for a file that is something else, or in no folder.
  init(path: String) throws(SyncError) {
    file = try PageFile(path: path, of: "file of metrics", startingWith: "# HELP ")
  }

  func count(_ status: Int, _ duration: Duration) {
    answers.withLock { answers in
      let former = answers[status] ?? (0, 0)
      answers[status] = (former.count + 1, former.seconds + duration / .seconds(1))
    }
  }

  /// Replaces the file. The first failure is told.
  func write() {
    let metrics = answers.withLock { answers in
      answers.flatMap { status, sum in
        let labels = [Metric.Label("status", "\(status)")]
        return [
          Metric(
            "canonicalsync_served_requests_total", .counter, "Requests answered, by status.", labels: labels,
            value: Double(sum.count)),
          Metric(
            "canonicalsync_served_seconds_total", .counter, "Time until the answers were ready, by status.",
            labels: labels, value: sum.seconds),
        ]
      } + [Metric("canonicalsync_serving", .gauge, "Whether the service runs.", value: 1)]
    }
    do throws(SyncError) {
      try file.write(metrics.prometheusText)
      hasFailed.withLock { $0 = false }
    } catch {
      let isNews = hasFailed.withLock { hasFailed in
        defer { hasFailed = true }
        return !hasFailed
      }
      if isNews { StandardStream.error.line("sync-serve: \(error)") }
    }
  }
}
