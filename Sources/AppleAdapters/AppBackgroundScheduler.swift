#if canImport(BackgroundTasks) && !os(macOS)
  import BackgroundTasks
  import Foundation
  public import SyncModels
  public import SyncPorts

  /// An app's background work, by the system's `BGTaskScheduler`.
  ///
  /// The app lists both identifiers under `BGTaskSchedulerPermittedIdentifiers` in its `Info.plist`,
  /// has the background modes *fetch* and *processing*, and creates the scheduler before it has
  /// finished launching.
  public final class AppBackgroundScheduler: BackgroundScheduler {
    private let identifiers: [BackgroundRequest.Kind: String]
    private let launches: AsyncStream<Launch>
    private let launched: AsyncStream<Launch>.Continuation

    /// A task of the system's that has begun.
    private struct Launch: Sendable {
      var kind: BackgroundRequest.Kind
      var expiration: CancellationSource
      var complete: @Sendable (_ isSuccess: Bool) -> Void
    }

    /// Registers both kinds of work with the system.
    ///
    /// - Parameters:
    ///   - refresh: The identifier of ``BackgroundRequest/Kind/refresh``.
    ///   - processing: The identifier of ``BackgroundRequest/Kind/processing``.
    /// - Throws: `invalidConfiguration` for an identifier that the `Info.plist` does not list.
    public init(refresh: String, processing: String) throws(SyncError) {
      identifiers = [.refresh: refresh, .processing: processing]
      (launches, launched) = AsyncStream.makeStream(of: Launch.self)
      for (kind, identifier) in identifiers {
        let isRegistered = BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) {
          [launched] task in
          let expiration = CancellationSource()
          task.expirationHandler = { expiration.cancel() }
          // The system lets any thread end a task.
          nonisolated(unsafe) let task = task
          let launch = Launch(kind: kind, expiration: expiration) { task.setTaskCompleted(success: $0) }
          if case .enqueued = launched.yield(launch) { return }
          launch.complete(false)
        }
        if !isRegistered {
          throw SyncError(
            .invalidConfiguration, during: "registering background work",
            "The Info.plist does not list \(identifier) under BGTaskSchedulerPermittedIdentifiers.")
        }
      }
    }

    /// Submits a request to the system, which begins it when it sees fit.
    ///
    /// - Throws: `invalidConfiguration` if the system refuses it.
    @discardableResult
    public func submit(_ request: BackgroundRequest) throws(SyncError) -> Timestamp {
      let identifier = identifiers[request.kind] ?? ""
      let earliest = Self.date(of: request.earliest)
      let task: BGTaskRequest
      switch request.kind {
      case .refresh: task = BGAppRefreshTaskRequest(identifier: identifier)
      case .processing:
        let processing = BGProcessingTaskRequest(identifier: identifier)
        processing.requiresNetworkConnectivity = request.needsNetwork
        processing.requiresExternalPower = request.needsExternalPower
        task = processing
      }
      task.earliestBeginDate = earliest
      do {
        try BGTaskScheduler.shared.submit(task)
      } catch {
        throw SyncError(.invalidConfiguration, during: "submitting background work", underlying: error)
      }
      let microseconds = (earliest.timeIntervalSince1970 * 1_000_000).rounded()
      return Timestamp(microseconds: Int64(exactly: microseconds) ?? .max)
    }

    private static func date(of begin: BackgroundRequest.Begin) -> Date {
      switch begin {
      case .after(let pause):
        let (seconds, attoseconds) = pause.components
        return Date(timeIntervalSinceNow: Double(seconds) + Double(attoseconds) / 1e18)
      case .next(let time):
        let next = Calendar.current.nextDate(
          after: .now, matching: DateComponents(hour: time.hour, minute: time.minute, second: 0),
          matchingPolicy: .nextTime, repeatedTimePolicy: .first)
        return next ?? Date(timeIntervalSinceNow: 86_400)
      }
    }

    /// Runs the work of each task that the system begins, until the calling task is cancelled.
    public func run(
      _ work: @escaping @Sendable (BackgroundRequest.Kind, any CancellationToken) async -> BackgroundOutcome
    ) async {
      await withDiscardingTaskGroup { group in
        for await launch in launches {
          group.addTask { launch.complete(await work(launch.kind, launch.expiration) == .succeeded) }
        }
      }
    }
  }
#endif
