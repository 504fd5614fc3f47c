import SyncCore
public import SyncModels

/// An app's own records for worlds: its declarations, and how its records come and change.
///
/// ```swift
/// var records = WorldRecords(schema)
/// records.add(Game.self) { key, random in
///   Game(id: key, score: random.number(in: 0...3))
/// } change: { game, random in
///   game.score += 1
/// }
/// simulation.useRecords(records)
/// ```
///
/// Both closures are called for the remote's writers and for the app, with the same records. They
/// use only the random numbers that they get, so that a seed gives the same world.
public struct WorldRecords: Sendable {
  /// The app's declarations.
  public let schema: SyncSchema
  private var kinds: [RecordType: Kind] = [:]
  /// How the app names the records of a type, which a world numbers.
  fileprivate var names: [RecordType: @Sendable (Int) -> String] = [:]

  /// How records of one type come and change.
  private struct Kind: Sendable {
    var written: @Sendable (String, Payload?, WorldRandom) throws -> Payload
    var edit: @Sendable (String, inout EditBatch, WorldRandom) throws(SyncError) -> Void
  }

  /// Creates records of a schema. Types that are not added have none.
  public init(_ schema: SyncSchema) {
    self.schema = schema
  }

  /// Adds the records of a type.
  ///
  /// - Parameters:
  ///   - type: The model of the type.
  ///   - keys: Gives the key of the record with a number, 1 to 99, for an app whose keys are UUIDs or
  ///     numbers: `{ String($0) }`. By default it is a letter with the number.
  ///   - make: Creates the record of a key. For a reference, ``WorldRandom/key(of:)`` gives the
  ///     key of a record that may be there.
  ///   - change: Changes a record as a user would: some members at a time, so that the edits of
  ///     two users differ in them.
  public mutating func add<Value: SyncedRecord & Encodable>(
    _ type: Value.Type, keys: (@Sendable (Int) -> String)? = nil,
    make: @escaping @Sendable (_ key: String, _ random: WorldRandom) -> Value,
    change: @escaping @Sendable (_ value: inout Value, _ random: WorldRandom) -> Void
  ) {
    names[Value.recordType] = keys
    kinds[Value.recordType] = Kind(
      written: { key, current, random in
        var value = make(key, random)
        // A record that a test's own policy has spoiled is written anew.
        if let current, let present = try? current.decoded(as: type, key: key) {
          value = present
          change(&value, random)
        }
        return try value.fields().payload
      },
      edit: { (key, batch, random) throws(SyncError) in
        let present: Value? =
          if let record = try batch.record(RecordID(type: Value.recordType, key: key)) {
            try? record.payload.decoded(as: type, key: key)
          } else {
            nil
          }
        var value = present ?? make(key, random)
        if present != nil { change(&value, random) }
        try batch.upsert(value, key: key)
      })
  }

  /// The types that have records, in the order of the schema.
  var types: [RecordType] { schema.entities.map(\.type).filter { kinds[$0] != nil } }

  /// The key of a type's record with a number.
  func key(of type: RecordType, _ number: Int) -> String {
    names[type]?(number) ?? "\(type.rawValue.prefix(1))\(number)"
  }

  /// What another client writes; `nil` for a record that JSON cannot represent.
  func payload(of id: RecordID, over current: Payload?, _ random: WorldRandom) -> Payload? {
    try? kinds[id.type]?.written(id.key, current, random)
  }

  /// Edits a record as the app.
  func edit(_ id: RecordID, in batch: inout EditBatch, _ random: WorldRandom) throws(SyncError) {
    try kinds[id.type]?.edit(id.key, &batch, random)
  }
}

/// The random decisions of a world. Each becomes milder as a world is made smaller.
public struct WorldRandom: Sendable {
  private let choices: Choices
  private let keys: Int
  private let records: WorldRecords

  init(_ choices: Choices, keys: Int, of records: WorldRecords) {
    self.choices = choices
    self.keys = keys
    self.records = records
  }

  /// Returns a number in a range; the lower end is the mildest.
  public func number(in range: ClosedRange<Int>) -> Int { choices.number(in: range) }

  /// Returns one of some elements; the first one is the mildest.
  public func pick<Element>(_ first: Element, _ others: Element...) -> Element {
    ([first] + others)[choices.below(others.count + 1)]
  }

  /// Returns true once in so many times.
  public func once(in times: Int) -> Bool { choices.once(in: times) }

  /// Returns the key of a record that may be there, for a reference to it.
  public func key(of type: RecordType) -> String { records.key(of: type, choices.number(in: 1...keys)) }
}

extension Hazard {
  /// The hazards of the worlds' built-in declarations, which an app's own records do not have.
  static let ofBuiltInRecords: Set<Hazard> = [
    .brokenPolicies, .bundles, .changingDeclarations, .circles, .cleanUps, .coordinators, .duplicates,
    .keysOfTwoTypes, .newerSchemas, .refusedLookups, .sharedVersions, .sightings, .defaults, .deletionRules,
    .immutableFields, .assignedFields, .uniqueValues, .sums, .otherDevices, .exchangedAccounts,
    .volatileMembers, .normalising, .assignedKeys,
  ]
}
