import InMemoryAdapters
import SyncCore
import SyncModels

extension Incarnation {
  /// Inserts defaults, as at each start, and migrates the settings of an earlier version once.
  func insertDefaults() async {
    guard world.shape.hazards.contains(.defaults), world.hasSink, !world.isCalm, let engine else { return }
    let choices = world.choices
    for _ in 0..<choices.below(3) {
      let id = RecordID(type: "leagues", key: "l\(choices.number(in: 1...world.shape.keys))")
      do throws(SyncError) {
        var fields = FieldMap()
        fields["id"] = Array("\"\(id.key)\"".utf8)[...]
        fields["name"] = Array("\(choices.number(in: 21...22))".utf8)[...]
        let isInserted = try await engine.edits.perform { [fields] (batch) throws(SyncError) in
          try batch.seed(id, fields)
        }
        if isInserted {
          trace(as: .edit, "inserts \(id) as a default")
          world.ledger.saw(.defaultInserted)
        }
      } catch {
        note(editing: id, error)
      }
    }
    guard choices.below(2) == 1 else { return }
    do throws(SyncError) {
      let settings = InMemoryLegacySettings(["names": ["l1": "23", "l2": "24"]])
      let migration = LegacyMigration(
        "leagues", to: "leagues", keyField: "id", fields: ["names": "name"], recordsAtOnce: 1)
      let report = try await engine.migrate(settings, by: migration)
      if report.counts.inserted > 0 {
        trace(as: .edit, "migrates its settings")
        world.ledger.saw(.defaultInserted)
      }
    } catch {
      note(editing: RecordID(type: "leagues", key: "l1"), error)
    }
  }
}
