import SyncModels

/// The parts of a type's declaration that decide which records may be shown.
struct DeclaredShape: Hashable, Codable {
  /// The ordered references, without duplicates, sorted.
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

/// The effect of a changed declaration on the stored records of its type.
struct DeclarationChange: Hashable {
  /// Whether live records may refer to absent ones, and have to be withheld.
  var withholds = false
  /// Whether parked copies may have lost their reason to wait.
  ///
  /// They may wait for records to which they no longer refer, or that arrived while the type was
  /// not declared.
  var releases = false
  /// Whether the knowledge of duplicates is based on another natural key.
  var voidsRebuild = false
  /// Whether the release of parked copies is postponed.
  ///
  /// The copies may have lost their reason to wait, but go on waiting while versions of the app
  /// take turns.
  var postponesRelease = false

  /// A release that an earlier change postponed.
  static let overdueRelease = DeclarationChange(releases: true)

  private init(releases: Bool) { self.releases = releases }

  /// Compares a declaration with the previous one.
  ///
  /// - Parameters:
  ///   - old: The declaration that was last carried out; `nil` if the type was not declared.
  ///   - former: All declarations carried out before that.
  init(from old: DeclaredShape?, to new: DeclaredShape, former: [DeclaredShape]) {
    guard let old else {
      // A type that is declared again finds the records that the store kept meanwhile. A new type
      // has none.
      (withholds, releases) = (!former.isEmpty && !new.references.isEmpty, !former.isEmpty)
      voidsRebuild = former.last.map { $0.naturalKey != new.naturalKey } ?? false
      return
    }
    withholds = !Set(new.references).isSubset(of: old.references)
    let needsLess = !Set(old.references).isSubset(of: new.references)
    // When a declaration returns, two versions of an app take turns. The stricter one wins, or each
    // would undo the other's work forever.
    postponesRelease = needsLess && former.contains(new)
    releases = needsLess && !postponesRelease
    voidsRebuild = old.naturalKey != new.naturalKey
  }

  /// Whether no stored record is affected now.
  var isEmpty: Bool { !withholds && !releases && !voidsRebuild }
}
