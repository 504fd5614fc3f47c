import SyncJSON
import SyncModels
import SyncPorts
import Synchronization

// What changed, for clients that wait: positions only.
extension KintoService {
  /// How often waiting clients look.
  private static let pace = Duration.milliseconds(200)
  /// The longest time that a client waits for an answer.
  private static let patience = Duration.seconds(25)

  /// Answers a request for the latest timestamps of the collections: at once, after a wait
  /// (`Prefer: wait=20`), or as events (`Accept: text/event-stream`).
  func changes(_ call: Call, _ caller: ServiceCaller) async throws(SyncError) -> ServiceResponse {
    guard call.reads else { throw Refusal.wrongMethod }
    let query = try ListQuery(call.pairs)
    let known = try call.precondition("if-none-match")
    if call.request.wantsEvents {
      let start = call.request.headers["last-event-id"].flatMap { Int64($0) } ?? query.since
      return ServiceResponse(
        status: 200, headers: ["Content-Type": "text/event-stream", "Cache-Control": "no-store"],
        body: .stream(events(to: caller, after: start ?? 0)))
    }
    let end = clock.timestamp + Self.wait(call.request.headers["prefer", default: ""])
    let courses = try await courses(of: caller, until: end) { ($0.first?.last ?? 0) != known }
    let last = courses.first?.last ?? 0
    let shown = courses.filter { course in
      query.hasTime(course.last)
        && query.condition?.isSatisfied { name in
          name == "bucket" ? .string(bucket) : name == "collection" ? .string(course.type.rawValue) : .null
        } ?? true
    }
    let headers = [String: String].totals(shown.count).merging(["ETag": "\"\(last)\""]) { $1 }
    if known == last { return ServiceResponse(status: 304, headers: headers) }
    return .data(.json(shown.map(json)), headers: headers)
  }

  /// The wait that a client prefers (RFC 7240).
  private static func wait(_ preferences: String) -> Duration {
    let wait = preferences.split { ", ".contains($0) }.first { $0.hasPrefix("wait=") }
    return min(.seconds(max(0, wait.flatMap { Int64($0.dropFirst(5)) } ?? 0)), patience)
  }

  /// A type and its latest timestamp.
  private typealias Course = (type: RecordType, last: Int64)

  /// The timestamps of the types that a caller may read, newest first, once they satisfy a condition,
  /// at the latest at a time.
  private func courses(
    of caller: ServiceCaller, until end: Timestamp, _ isAwaited: ([Course]) -> Bool
  ) async throws(SyncError) -> [Course] {
    while true {
      let courses = try await courses()
        .filter { caller.reads($0.key) != .nothing && schema[$0.key] != nil }
        .map { Course($0.key, $0.value.last) }.sorted { ($1.last, $0.type) < ($0.last, $1.type) }
      if isAwaited(courses) || clock.timestamp >= end { return courses }
      do {
        try await clock.pause(for: Self.pace)
      } catch {
        throw SyncError(.cancelled, during: "waiting for changes")
      }
    }
  }

  /// The timestamps for all who wait. One client reads, the others take what it found.
  private func courses() async throws(SyncError) -> [RecordType: Ledger.Course] {
    let time = clock.timestamp
    let found = shared.courses.withLock { cache -> [RecordType: Ledger.Course]? in
      if let cache, cache.at <= time, time < cache.at + Self.pace { return cache.courses }
      cache?.at = time
      return nil
    }
    if let found { return found }
    let courses = try await withLedger { ledger, _ in ledger.courses }
    shared.courses.withLock { $0 = (time, courses) }
    return courses
  }

  private func json(_ course: Course) -> [UInt8] {
    // An id of its own for each collection, as the plugin gives one.
    .json([
      "id": .json(String(ContentDigest.of("\(bucket)/\(course.type)"), radix: 16)),
      "last_modified": .json(course.last), "bucket": .json(bucket), "collection": .json(course.type.rawValue),
    ])
  }

  /// Events of the collections that changed after a timestamp.
  private func events(to caller: ServiceCaller, after start: Int64) -> @Sendable () async -> [UInt8]? {
    // The last timestamp that was sent of each type.
    let sent = Mutex<[RecordType: Int64]>([:])
    return {
      do throws(SyncError) {
        let seen = sent.withLock { $0 }
        let isNew = { (course: Course) in course.last > seen[course.type] ?? start }
        let courses = try await courses(of: caller, until: clock.timestamp + .seconds(15)) {
          $0.contains(where: isNew)
        }
        let news = courses.reversed().filter(isNew)
        sent.withLock { sent in for course in news { sent[course.type] = course.last } }
        // A comment now and then shows that the connection lives.
        if news.isEmpty { return Array(": \n\n".utf8) }
        return news.flatMap {
          Array("event: change\nid: \($0.last)\ndata: ".utf8) + json($0) + Array("\n\n".utf8)
        }
      } catch {
        // The client connects again, with the last event's id.
        return nil
      }
    }
  }
}
