package import CanonicalSync

/// Divides names into valid record types of one store and invalid ones with reasons.
package struct DeclarableTypes {
  package private(set) var usable: [RecordType] = []
  package private(set) var refused: [(type: RecordType, error: SyncError)] = []

  /// Divides the names in their order.
  ///
  /// Of two names that differ only in case, the first one is valid.
  ///
  /// - Parameter known: Types that are declared already.
  package init(_ names: [RecordType], beside known: [RecordType] = []) {
    var taken: [String: RecordType] = [:]
    for type in known { taken[type.rawValue.lowercased()] = type }
    for name in names {
      let folded = name.rawValue.lowercased()
      do throws(SyncError) {
        // The declarations themselves name the flaw.
        let other = taken[folded].flatMap { $0 == name ? nil : Entity($0) }
        _ = try SyncSchema([Entity(name)] + [other].compactMap(\.self))
        taken[folded] = name
        usable.append(name)
      } catch {
        refused.append((name, error))
      }
    }
  }
}
