import CanonicalSync
import InMemoryAdapters
import Synchronization
import Testing

// The code of Docs/Observing.md, with stand-ins. swift-log, swift-metrics and
// swift-distributed-tracing are not dependencies of this package, so the declarations that the code
// uses are repeated below.

/// Logs by swift-log.
struct LoggerObserver: SyncObserver {
  let logger: Logger

  func receive(_ event: SyncEvent) {
    switch event {
    case .finished(let result):
      let total = result.total
      logger.info(
        "sync finished", metadata: ["fetched": "\(total.fetched)", "duration": "\(result.duration)"])
    case .failed(let error, _):
      logger.error("sync failed", metadata: ["code": "\(error.code)"])
    case .entityFailed(let type, let error):
      logger.error("type failed", metadata: ["type": "\(type)", "code": "\(error.code)"])
    case .retrying(let type, let attempt, let pause, let error):
      logger.notice(
        "retrying",
        metadata: ["type": "\(type)", "attempt": "\(attempt)", "in": "\(pause)", "code": "\(error.code)"])
    case .quarantined(let malformed):
      logger.warning(
        "record withheld", metadata: ["type": "\(malformed.type)", "reason": "\(malformed.reason)"])
    case .sweepRefused(let type, let refusal):
      logger.warning("sweep refused", metadata: ["type": "\(type)", "reason": "\(refusal.sentence)"])
    default:
      break
    }
  }
}

/// Counts by swift-metrics, under the names of ``MetricsObserver``.
struct CountingObserver: SyncObserver {
  func receive(_ event: SyncEvent) {
    switch event {
    case .finished(let result):
      count("canonicalsync_syncs_total", [("outcome", result.wasCancelled ? "cancelled" : "finished")])
      countFetched(in: result)
    case .failed(let error, let result):
      count("canonicalsync_syncs_total", [("outcome", "failed")])
      count("canonicalsync_sync_failures_total", [("code", error.code.description)])
      countFetched(in: result)
    case .retrying(let type, _, _, let error):
      count("canonicalsync_retries_total", [("type", type.rawValue), ("code", error.code.description)])
    default:
      break
    }
  }

  private func countFetched(in result: SyncResult) {
    for (type, counts) in result.entities {
      count("canonicalsync_fetched_total", [("type", type.rawValue)], by: counts.fetched)
    }
  }

  private func count(_ label: String, _ dimensions: [(String, String)], by amount: Int = 1) {
    Counter(label: label, dimensions: dimensions).increment(by: amount)
  }
}

/// Traces each sync by swift-distributed-tracing, with a span for each type in it.
final class TracingObserver: SyncObserver {
  fileprivate struct Spans {
    var sync: (any Span)?
    var types: [RecordType: any Span] = [:]
  }
  private let spans = Mutex(Spans())

  func receive(_ event: SyncEvent) {
    spans.withLock { spans in
      switch event {
      case .started:
        spans.sync = InstrumentationSystem.tracer.startSpan("sync", context: .topLevel)
      case .entityStarted(let type, _, _):
        let context = spans.sync?.context ?? .topLevel
        spans.types[type] = InstrumentationSystem.tracer.startSpan("sync \(type)", context: context)
      case .entityFinished(let type, let counts):
        let span = spans.types.removeValue(forKey: type)
        span?.attributes["canonicalsync.fetched"] = counts.fetched
        span?.end()
      case .entityFailed(let type, let error):
        let span = spans.types.removeValue(forKey: type)
        span?.recordError(error)
        span?.end()
      case .finished:
        spans.end(nil)
      case .failed(let error, _):
        spans.end(error)
      default:
        break
      }
    }
  }
}

extension TracingObserver.Spans {
  /// Ends the sync's span, and those of types that were interrupted.
  fileprivate mutating func end(_ error: SyncError?) {
    for span in Array(types.values) + [sync].compactMap(\.self) {
      if let error { span.recordError(error) }
      span.end()
    }
    self = TracingObserver.Spans()
  }
}

@Suite("Observers of other packages", .serialized)
struct ObserversExampleTests {
  @Test func receiveASync() async throws {
    let teams = InMemoryRemote()
    teams.upsert("teams", "BOS", #"{"id":"BOS"}"#)
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("teams")), store: InMemoryStore(), source: teams,
      observers: [LoggerObserver(logger: Logger(label: "sync")), CountingObserver(), TracingObserver()])
    _ = try await engine.sync()
    #expect(try await collect(SyncSchema(Entity("teams")), InMemoryStore(), teams).contains("_store_records"))
    let lines = Recorded.lines.withLock { $0 }
    #expect(lines.contains("info sync finished fetched=1"), "\(lines)")
    #expect(lines.contains("count canonicalsync_syncs_total outcome=finished by 1"))
    #expect(lines.contains("count canonicalsync_fetched_total type=teams by 1"))
    #expect(lines.filter { $0.hasPrefix("span") } == ["span sync teams ended", "span sync ended"])
  }
}

/// The metrics of an engine and of its store, as a text.
private func collect(
  _ schema: SyncSchema, _ store: InMemoryStore, _ source: InMemoryRemote
) async throws -> String {
  let metrics = MetricsObserver()
  let engine = try await SyncEngine(
    schema: schema, store: store, source: source, observers: [metrics])
  _ = try await engine.sync()
  let reports = try await engine.status()
  let text = (metrics.metrics + reports.flatMap(\.metrics)).prometheusText
  return text
}

// MARK: Stand-ins

/// What the stand-ins received.
enum Recorded {
  static let lines = Mutex<[String]>([])
  static func note(_ line: String) { lines.withLock { $0.append(line) } }
}

/// As in swift-log.
struct Logger: Sendable {
  typealias Message = String
  typealias Metadata = [String: String]
  let label: String

  private func log(_ level: String, _ message: Message, _ metadata: Metadata) {
    let fetched = metadata["fetched"].map { " fetched=\($0)" } ?? ""
    Recorded.note("\(level) \(message)\(fetched)")
  }
  func info(_ message: Message, metadata: Metadata) { log("info", message, metadata) }
  func notice(_ message: Message, metadata: Metadata) { log("notice", message, metadata) }
  func warning(_ message: Message, metadata: Metadata) { log("warning", message, metadata) }
  func error(_ message: Message, metadata: Metadata) { log("error", message, metadata) }
}

/// As in swift-metrics.
struct Counter {
  let label: String
  let dimensions: [(String, String)]

  func increment(by amount: Int) {
    let labels = dimensions.map { "\($0.0)=\($0.1)" }.joined(separator: ",")
    Recorded.note("count \(label) \(labels) by \(amount)")
  }
}

/// As in swift-distributed-tracing.
protocol Span: AnyObject, Sendable {
  var context: ServiceContext { get }
  var attributes: [String: Int] { get set }
  func recordError(_ error: any Error)
  func end()
}

/// As in swift-service-context.
struct ServiceContext: Sendable {
  static let topLevel = ServiceContext()
}

/// As in swift-distributed-tracing.
enum InstrumentationSystem {
  static let tracer = Tracer()
}

struct Tracer: Sendable {
  func startSpan(_ name: String, context: ServiceContext) -> any Span { RecordedSpan(name) }
}

final class RecordedSpan: Span {
  private let name: String
  private let values = Mutex<[String: Int]>([:])
  let context = ServiceContext()

  init(_ name: String) { self.name = name }

  var attributes: [String: Int] {
    get { values.withLock { $0 } }
    set { values.withLock { $0 = newValue } }
  }
  func recordError(_ error: any Error) { Recorded.note("span \(name) failed") }
  func end() { Recorded.note("span \(name) ended") }
}
