package import CanonicalSync

/// Those of some names that can be record types of one store beside each other, and why the others cannot.
package struct DeclarableTypes {
  package private(set) var usable: [RecordType] = []
  package private(set) var refused: [(type: RecordType, error: SyncError)] = []

  /// Divides the names in their order: of two that differ in case alone, the first can be one.
  ///
  /// - Parameter known: Types that are declared already.
  package init(_ names: [RecordType], beside known: [RecordType] = []) {
    var taken: [String: RecordType] = [:]
    for type in known { taken[type.rawValue.lowercased()] = type }
    for name in names {
      let folded = name.rawValue.lowercased()
      do throws(SyncError) {
        // The declarations themselves say what is wrong with a name.
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
