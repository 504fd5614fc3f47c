import SyncJSON
import SyncModels
import SyncPorts
import Synchronization

// What changed, for clients that wait: positions only.
extension KintoService {
  /// How often waiting clients look.
  private static let pace = Duration.milliseconds(200)
  /// The longest time that a client waits for an answer, and a stream is silent.
  private static let patience = Duration.seconds(25)

  /// Answers a request for the latest timestamps of the collections: at once, after a wait
  /// (`Prefer: wait=20`), or as events (`Accept: text/event-stream`).
  func changes(_ call: Call, _ caller: ServiceCaller) async throws(SyncError) -> ServiceResponse {
    guard call.reads else { throw Refusal.wrongMethod.error }
    let query = try ListQuery(call.pairs)
    let known = try call.precondition("if-none-match")
    if call.headers["accept"]?.contains("text/event-stream") ?? false {
      let start = call.headers["last-event-id"].flatMap { Int64($0) } ?? query.since
      return ServiceResponse(
        status: 200, headers: ["Content-Type": "text/event-stream", "Cache-Control": "no-store"],
        body: .stream(events(to: caller, after: start)))
    }
    let end = now + Self.wait(call.headers["prefer"])
    while true {
      let courses = try await courses(of: caller)
      let last = courses.map(\.last).max() ?? 0
      let shown = courses.filter { course in
        course.last > query.after && course.last < query.before
          && query.condition?.isSatisfied { name in
            name == "bucket" ? .string(bucket) : name == "collection" ? .string(course.type.rawValue) : .null
          } ?? true
      }
      if known != last || now >= end {
        let headers = [
          "ETag": "\"\(last)\"", "Total-Objects": "\(shown.count)", "Total-Records": "\(shown.count)",
        ]
        if known == last { return ServiceResponse(status: 304, headers: headers) }
        return .json(RecordJSON.list(shown.map { json($0.type, $0.last) }), headers: headers)
      }
      try await pause()
    }
  }

  private var now: Timestamp { clock.timestamp }

  private func pause() async throws(SyncError) {
    do {
      try await clock.pause(for: Self.pace)
    } catch {
      throw SyncError(.cancelled, during: "waiting for changes")
    }
  }

  /// The wait that a client prefers (RFC 7240).
  private static func wait(_ preference: String?) -> Duration {
    for part in preference?.split(separator: ",") ?? [] {
      let halves = part.split(separator: "=").map { $0.drop { $0 == " " } }
      if halves.count == 2, halves[0] == "wait", let seconds = Int64(halves[1]) {
        return min(.seconds(max(0, min(seconds, 3600))), patience)
      }
    }
    return .zero
  }

  /// The timestamps of the types that a caller may read, newest first.
  private func courses(
    of caller: ServiceCaller
  ) async throws(SyncError) -> [(type: RecordType, last: Int64)] {
    let time = now
    let cached = shared.courses.withLock { cache -> [RecordType: Ledger.Course]? in
      guard let cache, cache.at <= time, time < cache.at + Self.pace else { return nil }
      return cache.courses
    }
    let courses: [RecordType: Ledger.Course]
    if let cached { courses = cached } else { courses = try await readCourses(at: time) }
    return courses.filter { caller.reads($0.key) != .nothing && schema[$0.key] != nil }
      .map { ($0.key, $0.value.last) }.sorted { ($1.last, $0.type) < ($0.last, $1.type) }
  }

  /// Reads the timestamps for all who wait. One client reads, the others take what it found.
  private func readCourses(at time: Timestamp) async throws(SyncError) -> [RecordType: Ledger.Course] {
    let former = shared.courses.withLock { cache in
      let former = cache?.courses
      if let former { cache = (time, former) }
      return former
    }
    let schema = schema
    var courses = try await store.read { (snapshot) throws(SyncError) -> [RecordType: Ledger.Course]? in
      let ledger = try Ledger(in: snapshot)
      return try ledger.isCurrent(in: snapshot, schema, tracking: []) ? ledger.courses : nil
    }
    if courses == nil {
      courses = try await store.write(.app) { (transaction) throws(SyncError) in
        var ledger = try Ledger(in: transaction)
        try ledger.catchUp(in: transaction, schema, tracking: [], at: time)
        return ledger.courses
      }
    }
    let read = courses ?? former ?? [:]
    shared.courses.withLock { $0 = (time, read) }
    return read
  }

  private func json(_ type: RecordType, _ last: Int64) -> [UInt8] {
    // An id of its own for each collection, as the plugin gives one.
    let digest = String(ContentDigest.of("\(bucket)/\(type)"), radix: 16)
    var json = Array("{\"id\":\"\(digest)\",\"last_modified\":\(last),\"bucket\":".utf8)
    JSONString.append(bucket, to: &json)
    json += Array(",\"collection\":".utf8)
    JSONString.append(type.rawValue, to: &json)
    json.append(UInt8(ascii: "}"))
    return json
  }

  /// Events of the collections that changed after a timestamp; without one, first of all.
  private func events(to caller: ServiceCaller, after start: Int64?) -> @Sendable () async -> [UInt8]? {
    let sent = SentEvents(start ?? 0)
    return {
      let end = now + .seconds(15)
      while true {
        do throws(SyncError) {
          let news = try await courses(of: caller).reversed().filter { sent.isNews($0.type, $0.last) }
          if !news.isEmpty {
            var text: [UInt8] = []
            for (type, last) in news {
              text += Array("event: change\nid: \(last)\ndata: ".utf8) + json(type, last) + Array("\n\n".utf8)
            }
            return text
          }
          // A comment now and then shows that the connection lives.
          if now >= end { return Array(": \n\n".utf8) }
          try await pause()
        } catch {
          // The client connects again, with the last event's id.
          return nil
        }
      }
    }
  }
}
