import CanonicalSync
import CanonicalSyncToolSupport
import Foundation
import Synchronization

/// A file with the metrics of the daemon and of its store.
///
/// It is in Prometheus' text format. The textfile collector of node_exporter reads it. Each write
/// replaces the file at once, so a reader never sees a part of it.
final class MetricsFile: Sendable {
  private let path: String
  private let observer: MetricsObserver
  private let log: DaemonLog
  /// Whether the last write failed. Each failure is logged once.
  private let hasFailed = Mutex(false)
  /// The longest time between two writes: ages grow although nothing happens.
  private static let interval = Duration.seconds(15)

  init(path: String, _ observer: MetricsObserver, _ log: DaemonLog) {
    self.path = path
    self.observer = observer
    self.log = log
  }

  /// Writes the file after each sync and regularly, until the task is cancelled.
  func run(_ engine: SyncEngine) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for await event in engine.events() {
          switch event {
          case .finished, .failed: await self.write(engine)
          default: break
          }
        }
      }
      group.addTask {
        repeat { await self.write(engine) } while (try? await Task.sleep(for: Self.interval)) != nil
      }
      await group.waitForAll()
    }
  }

  /// Writes the current metrics.
  func write(_ engine: SyncEngine) async {
    do {
      let reports = try await engine.status()
      try replace(with: (observer.metrics + reports.flatMap(\.metrics)).prometheusText)
      hasFailed.withLock { $0 = false }
    } catch {
      let isNews = hasFailed.withLock { hasFailed in
        defer { hasFailed = true }
        return !hasFailed
      }
      guard isNews else { return }
      log.write(LogEntry("metrics.failed", ("path", .string(path)), ("error", .string("\(error)"))).asWarning)
    }
  }

  private func replace(with text: String) throws {
    try hasFailed.withLock { _ in
      let draft = "\(path).\(getpid())"
      do {
        try Data(text.utf8).write(to: URL(filePath: draft))
        // The collector runs as another user.
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: draft)
        guard rename(draft, path) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      } catch {
        unlink(draft)
        throw error
      }
    }
  }
}
