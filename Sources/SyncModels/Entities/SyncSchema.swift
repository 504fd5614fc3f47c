/// All record types of an app, checked together, in sync order.
///
/// ```swift
/// let schema = try SyncSchema(
///   Entity("teams"),
///   Entity("games", references: [.to("teams", by: "home_team_id")]))
/// ```
public struct SyncSchema: Hashable, Sendable {
  /// The types, each after all types that it refers to, otherwise in declaration order.
  public let entities: [Entity]
  private let positions: [RecordType: Int]

  /// Checks declarations and determines their order.
  ///
  /// - Throws: ``SyncError`` with code `invalidConfiguration`. The message names the invalid name,
  ///   the type declared twice, the reference without target, or the types that refer to each other
  ///   in a cycle.
  /// - Complexity: O(*n*²) in the number of types.
  public init(_ entities: Entity...) throws(SyncError) {
    try self.init(entities)
  }

  /// Checks declarations and determines their order; see ``init(_:)-(Entity...)``.
  public init(_ entities: [Entity]) throws(SyncError) {
    try EntityChecks.check(entities)
    self.entities = try Self.ordered(entities)
    self.positions = Dictionary(
      zip(self.entities.map(\.type), self.entities.indices), uniquingKeysWith: { first, _ in first })
  }

  /// The same types, with the traits of the remote that they are synced with.
  package func synced(with remote: Entity.RemoteTraits) -> SyncSchema { synced { _ in remote } }

  /// The same types, each with the traits that the remote has for it.
  package func synced(_ remote: (RecordType) -> Entity.RemoteTraits) -> SyncSchema {
    SyncSchema(
      entities: entities.map { entity in
        var entity = entity
        entity.remote = remote(entity.type)
        return entity
      }, positions: positions)
  }

  private init(entities: [Entity], positions: [RecordType: Int]) {
    self.entities = entities
    self.positions = positions
  }

  /// The declaration of a type.
  public subscript(type: RecordType) -> Entity? {
    positions[type].map { entities[$0] }
  }

  /// The types that must come before a type, without itself.
  public func dependencies(of entity: Entity) -> [RecordType] {
    entity.references.filter { $0.isOrdered && $0.target != entity.type }.map(\.target)
  }

  /// The types that refer to a type by an ordered reference, each with the field.
  public func referrers(to type: RecordType) -> [(type: RecordType, field: FieldName)] {
    entities.flatMap { entity in
      entity.references.filter { $0.isOrdered && $0.target == type }.map { (entity.type, $0.field) }
    }
  }

  private static func ordered(_ entities: [Entity]) throws(SyncError) -> [Entity] {
    var waiting = entities
    var done: Set<RecordType> = []
    var order: [Entity] = []
    while !waiting.isEmpty {
      let ready = waiting.firstIndex { entity in
        entity.references.allSatisfy { !$0.isOrdered || $0.target == entity.type || done.contains($0.target) }
      }
      guard let ready else { throw cycle(among: waiting, done: done) }
      let entity = waiting.remove(at: ready)
      done.insert(entity.type)
      order.append(entity)
    }
    return order
  }

  private static func cycle(among waiting: [Entity], done: Set<RecordType>) -> SyncError {
    // Each type left over waits for another one that is left over. Following that relation from any
    // of them ends in the cycle.
    var path: [Entity] = []
    var next = waiting.first
    while let entity = next, !path.contains(entity) {
      path.append(entity)
      let target = entity.references.first {
        $0.isOrdered && $0.target != entity.type && !done.contains($0.target)
      }?.target
      next = waiting.first { $0.type == target }
    }
    let circle = path.drop { $0 != next }.map(\.type.rawValue) + [next?.type.rawValue ?? ""]
    return SyncError(
      .invalidConfiguration, during: "ordering the record types",
      """
      \(circle.joined(separator: " → ")) refer to each other in a cycle. Declare one of these references with \
      `ordered: false`.
      """)
  }
}
