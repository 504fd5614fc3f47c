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

  /// The most states that are kept of a record.
  static let maximumStates = 32
  private static let headKey = "served"
  private static let portion = 500
  private static let newLine = UInt8(ascii: "\n")

  private(set) var courses: [RecordType: Course] = [:]
  private(set) var bytes: [UInt8] = []
  private var identity = ""
  private(set) var position: Int64 = -1

  // MARK: The head

  /// Reads the ledger's head.
  init(in snapshot: any StoreSnapshot) throws(SyncError) {
    bytes = try snapshot.value(forKey: Self.headKey) ?? []
    let lines: [String] = bytes.split(separator: Self.newLine).map { String(decoding: $0, as: UTF8.self) }
    guard let first = lines.first?.split(separator: " ", maxSplits: 1), first.count == 2,
      let position = Int64(first[0])
    else { return }
    (self.position, identity) = (position, String(first[1]))
    for line in lines.dropFirst() {
      let words = line.split(separator: " ")
      guard words.count == 4, let birth = Int64(words[1]), let last = Int64(words[2]),
        let tracked = Int64(words[3])
      else { throw Self.damaged }
      courses[RecordType(String(words[0]))] = Course(birth: birth, last: last, tracked: tracked)
    }
  }

  private static var damaged: SyncError {
    SyncError(
      .storeUnreadable, during: "reading the timestamps of served records",
      "A kept value that begins with \"\(headKey)\" has another form. Remove the values with that prefix; clients list everything again."
    )
  }

  /// Writes the head, if it has changed.
  private mutating func save(in transaction: any StoreTransaction) throws(SyncError) {
    var text = "\(position) \(identity)\n"
    for (type, course) in courses.sorted(by: { $0.key < $1.key }) {
      text += "\(type) \(course.birth) \(course.last) \(course.tracked)\n"
    }
    guard bytes != Array(text.utf8) else { return }
    bytes = Array(text.utf8)
    try transaction.setValue(bytes, forKey: Self.headKey)
  }

  // MARK: Following the store

  /// Whether every commit up to a snapshot has its timestamps.
  ///
  /// A service's own writes, and acknowledged ones, come back as commits whose records are as the
  /// ledger has them.
  func isCurrent(
    in snapshot: any StoreSnapshot, _ schema: SyncSchema, tracking: Set<RecordType>
  ) throws(SyncError) -> Bool {
    let current = try snapshot.storeIdentity()
    guard !bytes.isEmpty, identity == current else { return false }
    for entity in schema.entities {
      guard let course = courses[entity.type], course.tracked > 0 || !tracking.contains(entity.type) else {
        return false
      }
    }
    // Many records are compared once, by the transaction that moves the position on.
    guard case .records(let ids) = try snapshot.changes(after: StorePosition(position)).scope, ids.count <= 16
    else { return false }
    let served = ids.filter { schema[$0.type] != nil }
    for (id, record) in zip(served, try snapshot.records(withIDs: served)) {
      guard try entry(of: id, in: snapshot)?.digest == record.map(Self.digest) else { return false }
    }
    return true
  }

  /// Gives timestamps to all that has changed.
  ///
  /// - Parameter tracking: Types whose former states are kept from now on.
  mutating func catchUp(
    in transaction: any StoreTransaction, _ schema: SyncSchema, tracking: Set<RecordType>, at now: Timestamp
  ) throws(SyncError) {
    let current = try transaction.storeIdentity()
    let changes = try transaction.changes(after: position < 0 ? nil : StorePosition(position))
    let scope = position < 0 || identity != current ? ChangedRecords.everything : changes.scope
    for entity in schema.entities {
      let birth = max(now.milliseconds, courses.values.map(\.birth).max().map { $0 + 1 } ?? 1)
      var course = courses[entity.type] ?? Course(birth: birth, last: birth)
      if tracking.contains(entity.type), course.tracked == 0 { course.tracked = course.turn(at: now) }
      let isNew = courses[entity.type]?.tracked != course.tracked
      courses[entity.type] = course
      if isNew, scope != .everything { try compare(entity, in: transaction, at: now) }
    }
    if case .records(let ids) = scope {
      let served = ids.filter { schema[$0.type] != nil }
      for (id, record) in zip(served, try transaction.records(withIDs: served)) {
        if let entity = schema[id.type] { try note(record, of: id, entity, in: transaction, at: now) }
      }
    } else {
      for entity in schema.entities { try compare(entity, in: transaction, at: now) }
    }
    (identity, position) = (current, changes.position.number)
    try save(in: transaction)
  }

  /// Compares all of a type's records with the ledger, whose names alone are read.
  private mutating func compare(
    _ entity: Entity, in transaction: any StoreTransaction, at now: Timestamp
  ) throws(SyncError) {
    var known: [String: UInt64?] = [:]
    var after: Int64 = 0
    while true {
      let places = try places(entity.type, after: after, before: .max, limit: Self.portion, in: transaction)
      for place in places { known[place.id.key] = .some(place.digest) }
      guard let last = places.last?.stamp, places.count == Self.portion else { break }
      after = last
    }
    let keepsStates = courses[entity.type]?.tracked ?? 0 > 0
    var last: String?
    repeat {
      let records = try transaction.records(Query(entity.type, afterKey: last, limit: Self.portion))
      var changes = StoreChanges()
      for record in records {
        let former = known.removeValue(forKey: record.id.key)
        if former == .some(.some(Self.digest(record))), !keepsStates { continue }
        try note(
          record, of: record.id, entity, in: transaction, at: now, isNew: former == nil, collecting: &changes)
      }
      if !changes.isEmpty { try transaction.apply(changes) }
      last = records.count < Self.portion ? nil : records.last?.id.key
    } while last != nil
    for (key, digest) in known.sorted(by: { $0.key < $1.key }) where digest != nil || keepsStates {
      try note(nil, of: RecordID(type: entity.type, key: key), entity, in: transaction, at: now)
    }
  }

  /// Gives a record a timestamp if it is not as the ledger has it, and returns its timestamp.
  ///
  /// - Parameter renews: Whether it gets one in any case.
  @discardableResult
  mutating func note(
    _ record: Record?, of id: RecordID, _ entity: Entity, in transaction: any StoreTransaction,
    at now: Timestamp, renews: Bool = false
  ) throws(SyncError) -> Int64 {
    var changes = StoreChanges()
    let stamp = try note(
      record, of: id, entity, in: transaction, at: now, renews: renews, collecting: &changes)
    if !changes.isEmpty { try transaction.apply(changes) }
    return stamp
  }

  @discardableResult
  private mutating func note(
    _ record: Record?, of id: RecordID, _ entity: Entity, in transaction: any StoreTransaction,
    at now: Timestamp, renews: Bool = false, isNew: Bool = false, collecting changes: inout StoreChanges
  ) throws(SyncError) -> Int64 {
    guard var course = courses[id.type] else { throw Self.damaged }
    let old = isNew ? nil : try entry(of: id, in: transaction)
    let digest = record.map(Self.digest)
    let isUntracked = course.tracked > 0 && old?.states.isEmpty ?? false
    if old == nil, digest == nil { return 0 }
    if let old, old.digest == digest, !isUntracked, !renews { return old.stamp }
    var entry = old ?? Entry(stamp: 0, digest: nil)
    if old == nil || entry.digest != digest || renews {
      course.last = max(now.milliseconds, course.last + 1)
      courses[id.type] = course
      if let old { changes.values.append(.init(Self.placeKey(id, old.stamp, old.digest), nil)) }
      entry.stamp = course.last
      entry.digest = digest
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

  /// Keeps the head after writes of the service's own.
  mutating func finish(in transaction: any StoreTransaction) throws(SyncError) { try save(in: transaction) }

  // MARK: Reading

  /// What is known of a record.
  func entry(of id: RecordID, in snapshot: any StoreSnapshot) throws(SyncError) -> Entry? {
    guard let bytes = try snapshot.value(forKey: Self.recordKey(id)) else { return nil }
    guard let entry = Entry(bytes) else { throw Self.damaged }
    return entry
  }

  /// The records between two timestamps, by ascending timestamps.
  ///
  /// - Parameters:
  ///   - after: The timestamp after which to begin.
  ///   - before: The timestamp before which to end.
  func places(
    _ type: RecordType, after: Int64, before: Int64, limit: Int, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [Place] {
    let prefix = Self.placePrefix(type)
    let start = after < .max ? prefix + Self.hex(UInt64(max(0, after + 1))) : prefix + "~"
    var places: [Place] = []
    for name in try snapshot.keys(withPrefix: prefix, after: start, limit: limit) {
      let rest = name.utf8.dropFirst(prefix.utf8.count)
      guard let stamp = Int64(String(decoding: rest.prefix(16), as: UTF8.self), radix: 16) else {
        throw Self.damaged
      }
      guard stamp < before else { break }
      places.append(
        Place(
          stamp: stamp, id: RecordID(type: type, key: String(decoding: rest.dropFirst(34), as: UTF8.self)),
          digest: UInt64(String(decoding: rest.dropFirst(17).prefix(16), as: UTF8.self), radix: 16)))
    }
    return places
  }

  /// The last records between two timestamps, by descending timestamps; `reached` is the timestamp
  /// down to which there are no more.
  ///
  /// A store lists its keys upwards only. Timestamps differ, so a window of so many of them holds at
  /// most as many records.
  func placesBackwards(
    _ type: RecordType, after: Int64, before: Int64, limit: Int, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> (places: [Place], reached: Int64) {
    guard let course = courses[type] else { return ([], after) }
    let floor = max(after, course.birth - 1)
    var top = min(before, course.last + 1)
    var width = Int64(limit)
    while true {
      let start = max(floor, top - 1 - width)
      let found = try places(type, after: start, before: top, limit: limit + 1, in: snapshot)
      if found.count > limit {
        width /= 2
      } else if found.isEmpty, start > floor {
        (top, width) = (start + 1, min(width * 8, 1 << 50))
      } else {
        return (found.reversed(), start)
      }
    }
  }

  // MARK: Rights

  /// The timestamp before which a caller's deltas of a type are void; `nil` if its scope is not the
  /// remembered one.
  func rightsStart(
    of caller: ServiceCaller, _ type: RecordType, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Int64? {
    guard let bytes = try snapshot.value(forKey: Self.rightsKey(caller, type)) else { return nil }
    let words = String(decoding: bytes, as: UTF8.self).split(separator: " ", maxSplits: 1)
    guard words.count == 2, let start = Int64(words[0]) else { throw Self.damaged }
    return words[1] == Self.scopeText(caller, type) ? start : nil
  }

  /// Remembers a caller's scope.
  ///
  /// The first one begins with the type; another one is a change of the collection for the caller.
  mutating func rememberRights(
    of caller: ServiceCaller, _ type: RecordType, in transaction: any StoreTransaction, at now: Timestamp
  ) throws(SyncError) {
    guard try rightsStart(of: caller, type, in: transaction) == nil, var course = courses[type] else {
      return
    }
    let key = Self.rightsKey(caller, type)
    var start: Int64 = 0
    if try transaction.value(forKey: key) != nil {
      start = course.turn(at: now)
      courses[type] = course
    }
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

  /// The digest of what clients see of a record.
  private static func digest(_ record: Record) -> UInt64 {
    var hash = ContentDigest.empty
    func mix(_ bytes: ArraySlice<UInt8>) {
      for byte in bytes { ContentDigest.mix(UInt64(byte), into: &hash) }
      ContentDigest.mix(0x100, into: &hash)
    }
    do {
      try JSONScanner.members(of: record.payload.bytes, depthLimit: .max) { member throws(JSONError) in
        if RecordJSON.isServers(member) { return }
        mix(member.rawKey)
        mix(member.value.bytes)
      }
    } catch {
      // What is no object is compared as it is.
      mix(record.payload.bytes)
    }
    return hash
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
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    guard let words = lines.first?.split(separator: UInt8(ascii: " ")), words.count == 2,
      let stamp = Int64(String(decoding: words[0], as: UTF8.self))
    else { return nil }
    self.stamp = stamp
    let digest = String(decoding: words[1], as: UTF8.self)
    self.digest = UInt64(digest, radix: 16)
    guard self.digest != nil || digest == "-" else { return nil }
    for line in lines.dropFirst() {
      guard let space = line.firstIndex(of: UInt8(ascii: " ")),
        let from = Int64(String(decoding: line[..<space], as: UTF8.self))
      else { return nil }
      let rest = Array(line[(space + 1)...])
      states.append(Ledger.State(from: from, fields: rest == [UInt8(ascii: "-")] ? nil : Payload(rest)))
    }
  }

  var bytes: [UInt8] {
    var bytes = Array("\(stamp) \(digest.map { String($0, radix: 16) } ?? "-")".utf8)
    for state in states {
      bytes += Array("\n\(state.from) ".utf8)
      // A line break between tokens is white space.
      bytes += state.fields.map { $0.bytes.map { $0 == 10 ? 32 : $0 } } ?? [UInt8(ascii: "-")]
    }
    return bytes
  }

  /// Whether one of the record's states since a timestamp satisfies a condition.
  ///
  /// `nil` if the states back then are not known any more.
  func was(_ condition: Condition, of entity: Entity, since: Int64) -> Bool? {
    var isKnown = false
    for (place, state) in states.enumerated().reversed() {
      if let fields = state.fields {
        var record = Record(
          id: RecordID(type: entity.type, key: ""), version: .unversioned, payload: fields, fields: [])
        record.fields = (try? entity.fields(of: fields)) ?? []
        if condition.isSatisfied(by: record, of: entity) { return true }
      }
      if state.from <= since {
        isKnown = true
        break
      }
      // Before the first kept state there was no record, unless older states were dropped.
      if place == 0 { isKnown = states.count < Ledger.maximumStates }
    }
    return isKnown ? false : nil
  }
}

extension Timestamp {
  /// Milliseconds since 1970, as Kinto's timestamps.
  var milliseconds: Int64 { microseconds / 1000 }
}
