import CanonicalSync
import CanonicalSyncTestServers
import HTTPAdapters
import InMemoryAdapters
import KintoAdapters
import SyncAdapters
import SyncJSON
import Testing

@Suite("Edits that a server cannot handle", .serialized, .timeLimit(.minutes(10)))
struct MalformedEditTests {
  /// An edit that some parser, database or address on the way cannot handle.
  struct Kind: Sendable, CustomStringConvertible {
    let description: String
    var key: @Sendable (Int) -> String = { "malformed\($0)" }
    var value = "1"
    var member = "value"

    var json: String { #"{"\#(member)":\#(value),"number":1}"# }
  }

  static let kinds: [Kind] = [
    Kind(description: "a number that is infinite", value: "1e400"),
    Kind(description: "a number that is minus infinite", value: "-1e400"),
    Kind(description: "a number that is almost zero", value: "1e-400"),
    Kind(description: "an integer of 400 digits", value: String(repeating: "9", count: 400)),
    Kind(description: "an integer of 5,000 digits", value: String(repeating: "7", count: 5000)),
    Kind(description: "a fraction of 400 digits", value: "0." + String(repeating: "3", count: 400)),
    Kind(description: "an exponent of ten digits", value: "1e9999999999"),
    Kind(description: "half a surrogate pair", value: #""\ud800""#),
    Kind(description: "the other half", value: #""\udc00""#),
    Kind(description: "halves in the wrong order", value: #""\udc00\ud800""#),
    Kind(description: "half a pair amid text", value: #""a\ud83db""#),
    Kind(description: "half a pair in a name", member: #"a\ud800"#),
    Kind(description: "a NUL", value: #""a\u0000b""#),
    Kind(description: "a NUL in a name", member: #"a\u0000b"#),
    Kind(description: "what looks like a NUL", value: #""a\\u0000b""#),
    Kind(description: "a value that nests deeply", value: nested(100)),
    Kind(description: "a value of the greatest nesting depth", value: nested(250)),
    Kind(description: "objects that nest deeply", value: #"{"a":"# + nested(120) + "}"),
    Kind(description: "a text of 100 KiB", value: "\"" + String(repeating: "x", count: 100 << 10) + "\""),
    Kind(description: "control characters", value: #""\u0001\u001f\u007f""#),
    Kind(description: "a character that is none", value: #""\uffff\ufffe""#),
    Kind(description: "a key of 6,000 characters", key: { "\($0)x" + String(repeating: "k", count: 6000) }),
    Kind(description: "a key of 300 characters", key: { "\($0)x" + String(repeating: "k", count: 300) }),
    Kind(description: "a key with a slash", key: { "a/b\($0)" }),
    Kind(description: "a key with dots", key: { "../\($0)" }),
    Kind(description: "a key with a space", key: { "a b\($0)" }),
    Kind(description: "a key with a quote", key: { #"a"b\#($0)"# }),
    Kind(description: "a key with a percent sign", key: { "a%2Fb\($0)" }),
    Kind(description: "a key with a question mark", key: { "a?b=\($0)#c" }),
    Kind(description: "a key in another script", key: { "ключ\($0)" }),
    Kind(description: "a key with a NUL", key: { "a\0b\($0)" }),
    Kind(description: "a key with a line's end", key: { "a\r\nb\($0)" }),
    Kind(description: "the app's own `deleted`", member: "deleted"),
    Kind(description: "the app's own `deleted`, which is true", value: "true", member: "deleted"),
    Kind(description: "the app's own `schema`", member: "schema"),
  ]

  private static func nested(_ depth: Int) -> String {
    String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
  }

  @Test(arguments: KintoKind.present)
  func cost500GoodOnesNothing(_ kind: KintoKind) async throws {
    try await kind.with(["items"]) { try await Self.run($0) }
  }

  /// Makes 500 edits of all kinds among 500 good ones.
  ///
  /// It syncs until only the edits with a named reason wait.
  private static func run(_ kinto: RealKinto) async throws {
    try await kinto.put("items", "pulled", "\"value\":1")
    let store = InMemoryStore()
    let source = try kinto.source()
    let schema = try SyncSchema(Entity("items", stamping: .none))
    let engine = try await SyncEngine(
      schema: schema, store: store, source: source, sink: KintoSink(source),
      options: SyncOptions(retry: RetryPolicy(attempts: 2, base: .milliseconds(1), cap: .milliseconds(20))))
    var refusedAtOnce: Set<String> = []
    var malformed: [String: Kind] = [:]
    for number in 0..<500 {
      try await engine.edits.set("good\(number)", #"{"value":\#(number)}"#)
      let kind = kinds[number % kinds.count]
      let key = kind.key(number)
      malformed[key] = kind
      do {
        try await engine.edits.set(key, kind.json)
      } catch let error as SyncError where error.code == .invalidEdit {
        refusedAtOnce.insert(key)
      }
    }
    // When no other edits are accepted any more, a sync finds the last of them two at a time.
    for _ in 0..<20 {
      let result = try await engine.sync()
      #expect(result.failures.allSatisfy { $0.error.code == .remoteUnavailable }, "\(result.failures)")
      if try await engine.edits.waiting("items").allSatisfy({ !$0.isSentWithNextPush }) { break }
    }

    let live = Set(store.records(of: "items").map(\.id.key))
    #expect(live.contains("pulled"))
    let arrived = Set(try await kinto.keys(of: "items"))
    for number in 0..<500 where !arrived.contains("good\(number)") {
      Issue.record("good\(number) has not arrived.")
    }
    var named: Set<String> = []
    for edit in try await engine.edits.waiting("items") {
      switch edit.wait {
      case .change(let reason):
        #expect(!reason.isEmpty)
        named.insert(edit.entry.id.key)
      case .time: named.insert(edit.entry.id.key)
      default: Issue.record("\(edit.entry.id.key.prefix(20)) \(edit.reason)")
      }
    }
    for (key, kind) in malformed
    where !arrived.contains(key) && !named.contains(key) && !refusedAtOnce.contains(key) {
      Issue.record("\(kind) is lost: it has neither arrived nor been refused by name.")
    }
    #expect(
      named.isDisjoint(with: arrived),
      "\(named.intersection(arrived).map { malformed[$0]?.description ?? $0 })")
    #expect(named.count + refusedAtOnce.count >= 100)
  }
}

extension LocalEdits {
  /// Sets a record to a JSON object.
  fileprivate func set(_ key: String, _ json: String) async throws {
    try await perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "items", key: key)) { (fields) throws(SyncError) in
        do throws(JSONError) {
          fields = try FieldMap(Payload(Array(json.utf8)))
        } catch {
          throw SyncError(.invalidEdit, during: "making an edit", error.description)
        }
      }
    }
  }
}

extension RealKinto {
  /// The ids of a collection's records.
  fileprivate func keys(of collection: String) async throws -> [String] {
    try await listing(collection).keys.sorted()
  }
}
