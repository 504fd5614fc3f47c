import SyncModels

/// What a type's declaration says about which of its records may be shown.
struct DeclaredShape: Hashable, Codable {
  /// The ordered references, each once, in one order.
  var references: [Target]
  var naturalKey: NaturalKey?

  struct Target: Hashable, Codable {
    var field: FieldName
    var type: RecordType
  }

  init(_ entity: Entity) {
    let targets = Set(
      entity.references.filter(\.isOrdered).map { Target(field: $0.field, type: $0.target) })
    references = targets.sorted { ($0.type, $0.field.rawValue) < ($1.type, $1.field.rawValue) }
    naturalKey = entity.naturalKey
  }
}

/// What a changed declaration of one type means for what a store has of it.
struct DeclarationChange: Hashable {
  /// Whether live records may refer to what is not here: those that do are withheld.
  var withholds = false
  /// Whether parked copies may wait for what they no longer refer to, or for what came while the type was not declared.
  var releases = false
  /// Whether what was found out about duplicates was found out by another natural key.
  var voidsRebuild = false
  /// Whether parked copies may wait for what they no longer refer to, and go on waiting while versions of the app take turns.
  var putsOffRelease = false

  /// The release that an earlier change put off.
  static let overdueRelease = DeclarationChange(releases: true)

  private init(releases: Bool) { self.releases = releases }

  /// Compares a declaration with the one before.
  ///
  /// - Parameters:
  ///   - old: What was carried out last; `nil` where the type was not declared.
  ///   - former: What was carried out at any time before.
  init(from old: DeclaredShape?, to new: DeclaredShape, former: [DeclaredShape]) {
    guard let old else {
      // A type that is declared again finds the store as it was kept without it; of a new one there is nothing.
      (withholds, releases) = (!former.isEmpty && !new.references.isEmpty, !former.isEmpty)
      voidsRebuild = former.last.map { $0.naturalKey != new.naturalKey } ?? false
      return
    }
    withholds = !Set(new.references).isSubset(of: old.references)
    let needsLess = !Set(old.references).isSubset(of: new.references)
    // Two versions of an app take turns where a declaration returns: the stricter one's word stands, or they would undo each other's work for ever.
    putsOffRelease = needsLess && former.contains(new)
    releases = needsLess && !putsOffRelease
    voidsRebuild = old.naturalKey != new.naturalKey
  }

  /// Whether nothing that is stored is concerned now.
  var isEmpty: Bool { !withholds && !releases && !voidsRebuild }
}
