import CanonicalSync
import InMemoryAdapters
import SyncAdapters

/// Meters that share hardware addresses, and readings that refer to them.
struct MeterWorld {
  let world: World
  var engine: SyncEngine { world.engine }
  var store: InMemoryStore { world.store }
  var remote: InMemoryRemote { world.remote }

  static let entities = [
    Entity(
      "meters", references: [.to("meters", by: "parent")],
      naturalKey: NaturalKey("mac", normalizedBy: .alphanumeric)),
    Entity("readings", references: [.to("meters", by: "meter"), .to("meters", by: "spare", ordered: false)]),
  ]

  /// The beginning of the day.
  static let day = Timestamp(milliseconds: 1_767_225_600_000)

  init(_ entities: [Entity] = Self.entities, store: InMemoryStore? = nil) async throws {
    world = try await World(entities, store: store)
  }

  /// Writes a meter at the remote, a given time after the day's beginning.
  func meter(_ key: String, mac: String?, at second: Int64 = 0, _ more: String = "") {
    let mac = mac.map { #""\#($0)""# } ?? "null"
    remote.upsert(
      "meters", key, #"{"id":"\#(key)","mac":\#(mac)\#(more)}"#,
      modifiedAt: Self.day + .seconds(second))
  }

  func reading(_ key: String, meter: String, spare: String = "") {
    let spare = spare.isEmpty ? "" : #","spare":"\#(spare)""#
    remote.upsert("readings", key, #"{"id":"\#(key)","meter":"\#(meter)"\#(spare)}"#)
  }

  /// The visible payload of a record.
  func text(_ type: RecordType, _ key: String) -> String? {
    store.records(of: type).first { $0.id.key == key }
      .map { String(decoding: $0.payload.bytes, as: UTF8.self) }
  }

  func keys(_ type: RecordType = "meters") -> [String] { world.keys(type) }

  /// The pending edits in order: `+` for a write, `-` for a deletion.
  func outbox() async throws -> [String] {
    var entries: [OutboxEntry] = []
    for entity in engine.schema.entities { entries += try await engine.edits.pending(entity.type) }
    return entries.sorted { $0.edit.stamp < $1.edit.stamp }.map { entry in
      (entry.edit.content == .deletion ? "-" : "+") + entry.id.description
    }
  }
}
