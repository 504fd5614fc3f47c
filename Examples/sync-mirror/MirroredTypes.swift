#if SQLite
  import CanonicalSync
  import SyncAdapters
  import CanonicalSyncToolSupport

  /// The remote's types that a store can hold, and the others with the reasons.
  struct MirroredTypes {
    /// The declarations that a description gives; `nil` if the remote gives only names.
    private let declared: [Entity]?
    /// The types that the store cannot hold.
    private(set) var refused: [(type: RecordType, error: SyncError)]

    /// Divides the types of a remote.
    ///
    /// A type that refers to one that the store cannot hold is refused as well.
    init(of remote: MirrorRemote, listing listed: [Entity], beside known: [Entity]) {
      var all: [Entity]? = if case .declared(let declared) = remote.types { declared } else { nil }
      refused =
        DeclarableTypes((all ?? listed).map(\.type), beside: known.map(\.type)).refused
      var lost = Set(refused.map(\.type))
      all?.removeAll { lost.contains($0.type) }
      while let entity = all?.first(where: { $0.references.contains { lost.contains($0.target) } }) {
        lost.insert(entity.type)
        all?.removeAll { $0.type == entity.type }
        refused.append((entity.type, Self.error(of: entity, lacking: refused.map(\.type))))
      }
      declared = all
    }

    private static func error(of entity: Entity, lacking lost: [RecordType]) -> SyncError {
      let target = entity.references.map(\.target).first { lost.contains($0) }
      return SyncError(
        .invalidConfiguration, during: "choosing the types",
        "It refers to \(target.map { "\($0)" } ?? "a type"), which is not mirrored.")
    }

    /// The declarations of the store's types and of the mirrored ones.
    ///
    /// A description decides about its types. Otherwise, an app that shares the store may have
    /// declared fields and references; they stay.
    func schema(of types: [RecordType], beside known: [Entity]) throws(SyncError) -> SyncSchema {
      guard let declared else {
        let added = types.filter { type in !known.contains { $0.type == type } }
        return try SyncSchema(known + added.map { Entity($0) })
      }
      return try SyncSchema(
        known.filter { entity in !declared.contains { $0.type == entity.type } } + declared)
    }

    /// The declared types that the command line names; all of them if it names none.
    static func chosen(
      _ names: [String], among declared: [Entity]
    ) throws(SyncError) -> [Entity] {
      guard !names.isEmpty else { return declared }
      let known = declared.map(\.type.rawValue)
      if let stranger = names.first(where: { !known.contains($0) }) {
        throw SyncError(
          .invalidConfiguration, during: "choosing the types",
          "The description has no type \"\(stranger)\"; \(Spelling.nearest(to: stranger, among: known, "it has"))"
        )
      }
      return declared.filter { names.contains($0.type.rawValue) }
    }
  }
#endif
