import HTTPAdapters
import SyncJSON
public import SyncModels
import SyncPorts

/// Hears that collections of a Kinto server have changed, so that a sync need not wait for its time.
///
/// ```swift
/// try await RemoteSignal(source).run { coordinator.pushSignal(first: $0) }
/// ```
///
/// It asks Kinto's changes endpoint, which Kinto's plugin `changes` has, and a `KintoService` of
/// SyncServing too. That service answers once something changes; a server that answers at once is
/// asked again after a pause.
public struct RemoteSignal: Sendable {
  private let source: KintoSource
  private let pause: Duration
  private static let operation = "waiting for changes"
  /// The longest pause after failures.
  private static let longestPause = Duration.seconds(60)

  /// Creates a signal of the bucket that a source reads, with its credentials and transport.
  ///
  /// - Parameters:
  ///   - source: The source whose bucket is followed.
  ///   - pause: The pause between two questions to a server that does not wait.
  public init(_ source: KintoSource, pause: Duration = .seconds(1)) {
    self.source = source
    self.pause = max(pause, .milliseconds(100))
  }

  /// Tells of changes until the task is cancelled.
  ///
  /// The first call, without types, comes with the first connection: anything may have changed
  /// before. After a failed request it connects again, with exponential pauses and full jitter, or
  /// after the pause that the server asks for.
  ///
  /// - Parameter onChange: Called with the types that changed.
  /// - Throws: `authentication`, `permissionDenied` and `invalidConfiguration`, for a server that
  ///   will not answer; `cancelled` once the task is.
  public func run(_ onChange: @escaping @Sendable ([RecordType]) -> Void) async throws(SyncError) {
    var known: (etag: String, stamps: [RecordType: Int64])?
    var failures = 0
    while true {
      let elapsed = source.server.session.clock.stopwatch()
      var wait = pause
      do throws(SyncError) {
        if let news = try await news(after: known?.etag) {
          if let stamps = known?.stamps {
            let types = news.stamps.filter { $0.value > stamps[$0.key] ?? 0 }.keys.sorted()
            if !types.isEmpty { onChange(types) }
          } else {
            onChange([])
          }
          known = news
        }
        failures = 0
        // A server that waited need not be spared.
        if elapsed() > pause { wait = .zero }
      } catch {
        if Task.isCancelled { throw SyncError(.cancelled, during: Self.operation) }
        let isFinal: [SyncError.Code] = [
          .authentication, .permissionDenied, .invalidConfiguration, .cancelled,
        ]
        if isFinal.contains(error.code) { throw error }
        failures = min(failures + 1, 10)
        let most = min(pause * (1 << failures), Self.longestPause)
        wait =
          error.retryAfter ?? .milliseconds(Int64.random(in: 100...max(100, most.wholeMicroseconds / 1000)))
      }
      do {
        try await source.server.session.clock.pause(for: wait)
      } catch {
        throw SyncError(.cancelled, during: Self.operation)
      }
    }
  }

  /// The timestamps of the bucket's collections; `nil` if they are as at an `ETag`.
  private func news(
    after etag: String?
  ) async throws(SyncError) -> (etag: String, stamps: [RecordType: Int64])? {
    let server = source.server
    var headers: HTTPHeaders = ["Prefer": "wait=20"]
    if let etag { headers["If-None-Match"] = etag }
    let response = try await server.session.send(
      "GET", server.changes, headers: headers, during: Self.operation)
    if response.status == 304 { return nil }
    guard response.status == 200, let tag = response.headers["ETag"] else {
      throw HTTPFailure.status(
        response, during: Self.operation, awaited: "an answer of the changes endpoint",
        special: [
          403: (
            .permissionDenied, ": the server has no changes endpoint, or these credentials may not read it."
          ),
          404: (.invalidConfiguration, ": the server has no changes endpoint."),
        ])
    }
    var stamps: [RecordType: Int64] = [:]
    do {
      try JSONScanner.members(of: response.body[...]) { member throws(JSONError) in
        guard member.key == "data" else { return }
        try JSONScanner.elements(of: member.value.bytes) { element throws(JSONError) in
          var (bucket, type, stamp): (String?, String?, Int64?) = (nil, nil, nil)
          try JSONScanner.members(of: element.bytes) { member throws(JSONError) in
            switch member.key {
            case "bucket": bucket = member.value.string()
            case "collection": type = member.value.string()
            case "last_modified": stamp = member.value.integer()
            default: break
            }
          }
          if bucket == server.bucket, let type, let stamp { stamps[RecordType(type)] = stamp }
        }
      }
    } catch {
      throw HTTPFailure.unreadable(error, during: Self.operation)
    }
    return (tag, stamps)
  }
}
