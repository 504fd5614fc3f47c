import CanonicalSync
import Foundation
import Synchronization

/// A file with the metrics of a service and of its store.
///
/// It is in Prometheus' text format. The textfile collector of node_exporter reads it. Each write
/// replaces the file at once, so a reader never sees a part of it.
final class MetricsFile: SyncObserver {
  private let path: String
  private let counts = MetricsObserver()
  private let log: ServiceLog
  private let syncsEnd = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
  /// Whether the last write failed. Each failure is logged once.
  private let hasFailed = Mutex(false)
  /// The longest time between two writes: ages grow although nothing happens.
  private static let interval = Duration.seconds(15)

  init(path: String, _ log: ServiceLog) {
    self.path = path
    self.log = log
  }

  func receive(_ event: SyncEvent) {
    counts.receive(event)
    switch event {
    case .finished, .failed: syncsEnd.continuation.yield()
    default: break
    }
  }

  /// Writes the file after each sync and regularly, until the task is cancelled.
  func run(_ service: Service) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in self.syncsEnd.stream { await self.write(service) } }
      group.addTask {
        repeat { await self.write(service) } while (try? await Task.sleep(for: Self.interval)) != nil
      }
      await group.waitForAll()
    }
  }

  /// Writes the current metrics.
  func write(_ service: Service) async {
    do {
      let reports = try await service.engine?.status() ?? []
      try replace(with: (counts.metrics + reports.flatMap(\.metrics)).prometheusText)
      hasFailed.withLock { $0 = false }
    } catch {
      let isNews = hasFailed.withLock { hasFailed in
        defer { hasFailed = true }
        return !hasFailed
      }
      guard isNews else { return }
      let reason = (error as? SyncError)?.description ?? error.systemReason
      log.write(LogEntry("metrics.failed", ("path", .string(path)), ("error", .string(reason))).asWarning)
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
