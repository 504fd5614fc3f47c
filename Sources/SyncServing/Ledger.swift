import SyncCore
import SyncJSON
import SyncModels
import SyncPorts

/// The timestamps of a store's records, in the order of the commits that changed them.
///
/// A store numbers its commits, but it keeps the newest numbers only, and no number for each record.
/// The ledger is kept in the store itself, by kept values: for each record its timestamp and a digest,
/// and the timestamps in order. The service that first answers after a commit brings it up to date, in a
/// transaction, and transactions come one after another: a later commit gets a later timestamp,
/// whichever process made it, and however late it became visible.
struct Ledger {
  /// The state of one type.
  struct Course: Equatable {
    /// When the type was first served.
    var birth: Int64
    /// The greatest timestamp given.
    var last: Int64
    /// The timestamp from which on former states are known; 0 if they are not kept.
    var tracked: Int64 = 0

    /// Begins a new time, before which deltas are void, and returns its beginning.
    ///
    /// Clients let a delta reach back by some seconds, so the first timestamp of the new time is a
    /// minute later.
    mutating func turn(at now: Timestamp) -> Int64 {
      let start = max(now.milliseconds, last + 1)
      last = start + 60_000
      return start
    }
  }

  /// What is known of one record.
  struct Entry: Equatable {
    var stamp: Int64
    /// `nil` for a deleted record.
    var digest: UInt64?
    /// The record's states by the fields that conditions see, oldest first, if they are kept.
    var states: [State] = []
  }

  /// The declared fields that a record had from a timestamp on; `nil` if it was deleted.
  struct State: Equatable {
    var from: Int64
    var fields: Payload?
  }

  /// A record's place in the order of timestamps.
  struct Place {
    var stamp: Int64
    var id: RecordID
    /// `nil` for a deleted record.
    var digest: UInt64?
  }

  /// What is left to list between two timestamps, both exclusive.
  struct Span {
    var after: Int64 = 0
    var before: Int64 = .max
    var isOver = false
  }

  /// The most states that are kept of a record.
  static let maximumStates = 32
  private static let headKey = "served"
  private static let portion = 500

  /// The state of the store that the ledger is read from.
  let snapshot: any StoreSnapshot
  let schema: SyncSchema
  let now: Timestamp
  private(set) var courses: [RecordType: Course] = [:]
  private var identity = ""
  private var position: Int64 = -1
  /// The head as it is kept.
  private var head = ""

  // MARK: The head

  /// Reads the ledger's head.
  init(_ schema: SyncSchema, in snapshot: any StoreSnapshot, at now: Timestamp) throws(SyncError) {
    (self.snapshot, self.schema, self.now) = (snapshot, schema, now)
    head = String(decoding: try snapshot.value(forKey: Self.headKey) ?? [], as: UTF8.self)
    let lines = head.split(separator: "\n")
    guard let first = lines.first?.split(separator: " ", maxSplits: 1), first.count == 2,
      let position = Int64(first[0])
    else { return }
    (self.position, identity) = (position, String(first[1]))
    for line in lines.dropFirst() {
      let words = line.split(separator: " ")
      let numbers = words.dropFirst().compactMap { Int64($0) }
      guard words.count == 4, numbers.count == 3 else { throw Self.damaged }
      courses[RecordType(String(words[0]))] = Course(
        birth: numbers[0], last: numbers[1], tracked: numbers[2])
    }
  }

  private static var damaged: SyncError {
    SyncError(
      .storeUnreadable, during: "reading the timestamps of served records",
      "A kept value that begins with \"\(headKey)\" has another form. Remove the values with that prefix; clients list everything again."
    )
  }

  /// Keeps the head, if it has changed.
  mutating func save(in transaction: any StoreTransaction) throws(SyncError) {
    var text = "\(position) \(identity)\n"
    for (type, course) in courses.sorted(by: { $0.key < $1.key }) {
      text += "\(type) \(course.birth) \(course.last) \(course.tracked)\n"
    }
    if text == head { return }
    head = text
    try transaction.setValue(Array(text.utf8), forKey: Self.headKey)
  }

  // MARK: Following the store

  /// Whether every commit up to the snapshot has its timestamps.
  ///
  /// A service's own writes, and acknowledged ones, come back as commits whose records are as the
  /// ledger has them.
  func isCurrent(tracking: Set<RecordType> = []) throws(SyncError) -> Bool {
    guard !head.isEmpty, identity == (try snapshot.storeIdentity()) else { return false }
    for entity in schema.entities {
      guard let course = courses[entity.type], course.tracked > 0 || !tracking.contains(entity.type) else {
        return false
      }
    }
    // Many records are compared once, by the transaction that moves the position on.
    guard case .records(let ids) = try snapshot.changes(after: StorePosition(position)).scope, ids.count <= 16
    else { return false }
    for (id, record) in try served(ids) where try entry(of: id)?.digest != record.map(Self.digest) {
      return false
    }
    return true
  }

  /// Those of some records whose types are served, and their copies.
  private func served(_ ids: some Sequence<RecordID>) throws(SyncError) -> Zip2Sequence<[RecordID], [Record?]>
  {
    let served = ids.filter { schema[$0.type] != nil }
    return zip(served, try snapshot.records(withIDs: served))
  }

  /// Gives timestamps to all that has changed.
  ///
  /// - Parameter tracking: Types whose former states are kept from now on.
  mutating func catchUp(
    in transaction: any StoreTransaction, tracking: Set<RecordType> = []
  ) throws(SyncError) {
    let current = try snapshot.storeIdentity()
    let changes = try snapshot.changes(after: position < 0 ? nil : StorePosition(position))
    let isOther = position < 0 || identity != current
    let changed: ChangedRecords = isOther ? .everything : changes.scope
    for entity in schema.entities {
      let birth = max(now.milliseconds, courses.values.map(\.birth).max().map { $0 + 1 } ?? 1)
      var course = courses[entity.type] ?? Course(birth: birth, last: birth)
      if tracking.contains(entity.type), course.tracked == 0 { course.tracked = course.turn(at: now) }
      let isNew = courses[entity.type]?.tracked != course.tracked
      courses[entity.type] = course
      if isNew || changed == .everything { try compare(entity, in: transaction) }
    }
    if case .records(let ids) = changed {
      var notes = StoreChanges()
      for (id, record) in try served(ids) { try note(record, of: id, in: &notes) }
      if !notes.isEmpty { try transaction.apply(notes) }
    }
    (identity, position) = (current, changes.position.number)
    try save(in: transaction)
  }

  /// Compares all of a type's records with the ledger, whose names alone are read.
  private mutating func compare(_ entity: Entity, in transaction: any StoreTransaction) throws(SyncError) {
    var known: [String: UInt64?] = [:]
    var span = Span()
    while !span.isOver {
      for place in try next(entity.type, in: &span) { known[place.id.key] = .some(place.digest) }
    }
    let keepsStates = courses[entity.type]?.tracked ?? 0 > 0
    var portions = snapshot.portions(of: Query(entity.type))
    while let records = try portions.next() {
      var notes = StoreChanges()
      for record in records {
        let former = known.removeValue(forKey: record.id.key)
        if former == .some(.some(Self.digest(record))), !keepsStates { continue }
        try note(record, of: record.id, isNew: former == nil, in: &notes)
      }
      if !notes.isEmpty { try transaction.apply(notes) }
    }
    var notes = StoreChanges()
    for (key, digest) in known.sorted(by: { $0.key < $1.key }) where digest != nil || keepsStates {
      try note(nil, of: RecordID(type: entity.type, key: key), in: &notes)
    }
    if !notes.isEmpty { try transaction.apply(notes) }
  }

  /// Gives a record a timestamp if it is not as the ledger has it, and returns its timestamp.
  ///
  /// - Parameters:
  ///   - renews: Whether it gets one in any case.
  ///   - isNew: Whether the ledger is known to lack it.
  ///   - changes: Takes what is to be written.
  @discardableResult
  mutating func note(
    _ record: Record?, of id: RecordID, renews: Bool = false, isNew: Bool = false,
    in changes: inout StoreChanges
  ) throws(SyncError) -> Int64 {
    guard var course = courses[id.type], let entity = schema[id.type] else { throw Self.damaged }
    let old = isNew ? nil : try entry(of: id)
    let digest = record.map(Self.digest)
    let isUntracked = course.tracked > 0 && old?.states.isEmpty ?? false
    if old == nil, digest == nil { return 0 }
    if let old, old.digest == digest, !isUntracked, !renews { return old.stamp }
    var entry = old ?? Entry(stamp: 0, digest: nil)
    if old == nil || entry.digest != digest || renews {
      course.last = max(now.milliseconds, course.last + 1)
      courses[id.type] = course
      if let old { changes.values.append(.init(Self.placeKey(id, old.stamp, old.digest), nil)) }
      (entry.stamp, entry.digest) = (course.last, digest)
      changes.values.append(.init(Self.placeKey(id, entry.stamp, digest), [1]))
    }
    if course.tracked > 0 {
      let fields = record.map { Self.fields(of: $0, entity) }
      if entry.states.isEmpty || entry.states.last?.fields != fields {
        entry.states.append(State(from: isUntracked ? course.tracked : entry.stamp, fields: fields))
        if entry.states.count > Self.maximumStates { entry.states.removeFirst() }
      }
    }
    changes.values.append(.init(Self.recordKey(id), entry.bytes))
    return entry.stamp
  }

  // MARK: Reading

  /// What is known of a record.
  func entry(of id: RecordID) throws(SyncError) -> Entry? {
    guard let bytes = try snapshot.value(forKey: Self.recordKey(id)) else { return nil }
    guard let entry = Entry(bytes) else { throw Self.damaged }
    return entry
  }

  /// The next portion of the records between two timestamps, in the order of timestamps.
  func next(_ type: RecordType, in span: inout Span, descends: Bool = false) throws(SyncError) -> [Place] {
    if descends { return try last(type, in: &span) }
    let places = try places(type, span, limit: Self.portion)
    span.after = places.last?.stamp ?? span.after
    span.isOver = places.count < Self.portion
    return places
  }

  /// The next portion from the end.
  ///
  /// A store lists its keys upwards only. Timestamps differ, so a window of so many of them holds at
  /// most as many records.
  private func last(_ type: RecordType, in span: inout Span) throws(SyncError) -> [Place] {
    guard let course = courses[type] else {
      span.isOver = true
      return []
    }
    let floor = max(span.after, course.birth - 1)
    span.before = min(span.before, course.last + 1)
    var width = Int64(Self.portion)
    while true {
      let start = max(floor, span.before - 1 - width)
      let found = try places(type, Span(after: start, before: span.before), limit: Self.portion + 1)
      if found.count > Self.portion {
        width /= 2
        continue
      }
      span.before = start + 1
      span.isOver = start <= floor
      if !found.isEmpty || span.isOver { return found.reversed() }
      width = min(width * 8, 1 << 50)
    }
  }

  private func places(_ type: RecordType, _ span: Span, limit: Int) throws(SyncError) -> [Place] {
    let prefix = Self.placePrefix(type)
    let start = span.after < .max ? prefix + Self.hex(UInt64(max(0, span.after + 1))) : prefix + "~"
    var places: [Place] = []
    for name in try snapshot.keys(withPrefix: prefix, after: start, limit: limit) {
      let rest = name.utf8.dropFirst(prefix.utf8.count)
      guard let stamp = Int64(String(decoding: rest.prefix(16), as: UTF8.self), radix: 16) else {
        throw Self.damaged
      }
      guard stamp < span.before else { break }
      places.append(
        Place(
          stamp: stamp, id: RecordID(type: type, key: String(decoding: rest.dropFirst(34), as: UTF8.self)),
          digest: UInt64(String(decoding: rest.dropFirst(17).prefix(16), as: UTF8.self), radix: 16)))
    }
    return places
  }

  // MARK: Rights

  /// The timestamp before which a caller's deltas of a type are void; `nil` if its scope is not the
  /// remembered one.
  func rightsStart(of caller: ServiceCaller, _ type: RecordType) throws(SyncError) -> Int64? {
    guard let bytes = try snapshot.value(forKey: Self.rightsKey(caller, type)) else { return nil }
    let words = String(decoding: bytes, as: UTF8.self).split(separator: " ", maxSplits: 1)
    guard words.count == 2, let start = Int64(words[0]) else { throw Self.damaged }
    return words[1] == Self.scopeText(caller, type) ? start : nil
  }

  /// Remembers a caller's scope.
  ///
  /// The first one begins with the type; another one is a change of the collection for the caller.
  mutating func rememberRights(
    of caller: ServiceCaller, _ type: RecordType, in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard var course = courses[type], try rightsStart(of: caller, type) == nil else { return }
    let key = Self.rightsKey(caller, type)
    let start = try snapshot.value(forKey: key) == nil ? 0 : course.turn(at: now)
    courses[type] = course
    try transaction.setValue(Array("\(start) \(Self.scopeText(caller, type))".utf8), forKey: key)
    try save(in: transaction)
  }

  /// A name of a scope: its digest. The condition may hold what belongs to another caller.
  private static func scopeText(_ caller: ServiceCaller, _ type: RecordType) -> String {
    hex(ContentDigest.of("\(caller.reads(type))"))
  }

  // MARK: Names

  private static func rightsKey(_ caller: ServiceCaller, _ type: RecordType) -> String {
    "served-to:\(type):\(caller.id)"
  }
  private static func recordKey(_ id: RecordID) -> String { "served-of:\(id.type):\(id.key)" }
  private static func placePrefix(_ type: RecordType) -> String { "served-at:\(type):" }
  private static func placeKey(_ id: RecordID, _ stamp: Int64, _ digest: UInt64?) -> String {
    let content = digest.map(hex) ?? String(repeating: "-", count: 16)
    return "\(placePrefix(id.type))\(hex(UInt64(clamping: stamp))):\(content):\(id.key)"
  }

  private static func hex(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  // MARK: Contents

  /// The digest of what clients see of a record; what is no object is compared as it is.
  private static func digest(_ record: Record) -> UInt64 {
    let members = try? MemberDigest(of: record.payload.bytes, finding: "id", ignoring: ["last_modified"])
    return members?.value ?? ContentDigest.of(record.payload.bytes)
  }

  /// The declared fields of a record, as an object.
  private static func fields(of record: Record, _ entity: Entity) -> Payload {
    var map = FieldMap()
    guard let all = try? FieldMap(record.payload) else { return map.payload }
    for field in entity.fields where (all[field]?.count ?? 0) <= 256 { map[field] = all[field] }
    return map.payload
  }
}

extension Ledger.Entry {
  /// Reads the form of ``bytes``: a line of the timestamp and the digest, and one for each state.
  init?(_ bytes: [UInt8]) {
    var lines: [(stamp: Int64, rest: ArraySlice<UInt8>)] = []
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 1)
      guard parts.count == 2, let stamp = Int64(String(decoding: parts[0], as: UTF8.self)) else { return nil }
      lines.append((stamp, parts[1]))
    }
    guard let first = lines.first else { return nil }
    (stamp, digest) = (first.stamp, UInt64(String(decoding: first.rest, as: UTF8.self), radix: 16))
    if digest == nil, first.rest != Self.none { return nil }
    states = lines.dropFirst().map {
      .init(from: $0.stamp, fields: $0.rest == Self.none ? nil : Payload($0.rest))
    }
  }

  var bytes: [UInt8] {
    var bytes = Array("\(stamp) \(digest.map { String($0, radix: 16) } ?? "-")".utf8)
    for state in states {
      bytes += Array("\n\(state.from) ".utf8)
      // A line break between tokens is white space.
      bytes += state.fields.map { $0.bytes.map { $0 == 10 ? 32 : $0 } } ?? Array(Self.none)
    }
    return bytes
  }

  /// Stands for a deleted record.
  private static let none = [UInt8(ascii: "-")][...]

  /// Whether one of the record's states since a timestamp satisfies a condition.
  ///
  /// `nil` if the states back then are not known any more.
  func was(_ condition: Condition, of entity: Entity, since: Int64) -> Bool? {
    let first = states.lastIndex { $0.from <= since }
    let satisfies = states[(first ?? 0)...].contains { state in
      guard let fields = state.fields else { return false }
      let id = RecordID(type: entity.type, key: "")
      let record = Record(id: id, version: .unversioned, payload: fields, fields: []).withFields(of: entity)
      return condition.isSatisfied(by: record, of: entity)
    }
    if satisfies { return true }
    // Before the first kept state there was no record, unless older states were dropped.
    return first != nil || (1..<Ledger.maximumStates).contains(states.count) ? false : nil
  }
}

extension Timestamp {
  /// Milliseconds since 1970, as Kinto's timestamps.
  var milliseconds: Int64 { microseconds / 1000 }
}
