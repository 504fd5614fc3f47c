import CanonicalSync
import CanonicalSyncToolSupport

/// An open store, and the output of its inspection.
struct Inspection: Sendable {
  let store: any LocalStore
  /// Whether the last line of the output is one JSON object.
  let isJSON: Bool
  let output = StandardStream.output

  /// Every type that the store keeps, by name.
  func entities() async throws(SyncError) -> [Entity] {
    try await store.read { (snapshot) throws(SyncError) in try snapshot.registeredEntities() }
  }

  /// The declaration of the named type.
  func entity(named name: String) async throws(SyncError) -> Entity {
    let entities = try await entities()
    if let entity = entities.first(where: { $0.type == RecordType(name) }) { return entity }
    let known = entities.map(\.type.rawValue).sorted().joined(separator: ", ")
    throw SyncError(
      .invalidConfiguration, during: "looking for records of \(name)",
      "The store has no type \"\(name)\"; it has \(known.isEmpty ? "none at all" : known).")
  }

  /// Prints the object for `--json`.
  func finish(_ object: @autoclosure () -> JSON) {
    if isJSON { output.line(object()) }
  }
}
