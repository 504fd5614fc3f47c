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
  struct Entry {
    var stamp: Int64
    /// `nil` for a deleted record.
    var digest: UInt64?
    /// The record's states by the fields that conditions see, oldest first, if they are kept.
    var states: [State] = []
  }

  /// The declared fields that a record had from a timestamp on; `nil` if it was deleted.
  typealias State = (from: Int64, fields: Payload?)

  /// A record's place in the order of timestamps; a deleted record has no digest.
  typealias Place = (stamp: Int64, id: RecordID, digest: UInt64?)

  /// Two timestamps, both exclusive.
  struct Span: Equatable {
    var after: Int64 = 0
    var before: Int64 = .max
  }

  /// The most states that are kept of a record.
  static let maximumStates = 32
  private static let headKey = "served"
  private static let portion = 500

  /// The state of the store that the ledger is read from.
  let snapshot: any StoreSnapshot
  /// What the ledger is written to; `nil` if it is only read.
  let transaction: (any StoreTransaction)?
  let schema: SyncSchema
  let now: Timestamp
  private(set) var courses: [RecordType: Course] = [:]
  /// The store and the position up to which its commits have their timestamps.
  private var identity = ""
  private var position: StorePosition?
  /// The head as it is kept.
  private let head: String

  // MARK: The head

  /// Reads the ledger's head.
  init(
    _ schema: SyncSchema, in snapshot: any StoreSnapshot,
    writingTo transaction: (any StoreTransaction)? = nil, at now: Timestamp
  ) throws(SyncError) {
    (self.snapshot, self.transaction, self.schema, self.now) = (snapshot, transaction, schema, now)
    head = String(decoding: try snapshot.value(forKey: Self.headKey) ?? [], as: UTF8.self)
    let lines = head.split(separator: "\n")
    guard let first = lines.first?.split(separator: " ", maxSplits: 1), first.count == 2,
      let number = Int64(first[0])
    else { return }
    (position, identity) = (StorePosition(number), String(first[1]))
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
  func save() throws(SyncError) {
    var text = "\(position?.number ?? -1) \(identity)\n"
    for (type, course) in courses.sorted(by: { $0.key < $1.key }) {
      text += "\(type) \(course.birth) \(course.last) \(course.tracked)\n"
    }
    if text != head { try transaction?.setValue(Array(text.utf8), forKey: Self.headKey) }
  }

  // MARK: Following the store

  /// Gives timestamps to all that has changed, and remembers a caller's scopes of some types.
  ///
  /// Of a type whose scope is a condition, former states are kept from now on. A service's own writes,
  /// and acknowledged ones, come back as commits whose records are as the ledger has them.
  ///
  /// - Returns: Whether the ledger is up to date: without a transaction, `false` if there is anything
  ///   to write, or much to compare.
  @discardableResult
  mutating func catchUp(for caller: ServiceCaller?, _ types: [RecordType]) throws(SyncError) -> Bool {
    let onlyReads = transaction == nil
    let current = try snapshot.storeIdentity()
    let news = try snapshot.changes(after: position)
    // What has changed; `nil` for everything.
    var ids: [RecordID]?
    if identity == current, case .records(let changed) = news.scope { ids = changed }
    // Many records are compared once, by the transaction that moves the position on.
    if onlyReads, (ids?.count ?? .max) > 16 { return false }
    for entity in schema.entities {
      let birth = max(now.milliseconds, (courses.values.map(\.birth).max() ?? 0) + 1)
      var course = courses[entity.type] ?? Course(birth: birth, last: birth)
      let isTracked = types.contains(entity.type) && caller?.reads(entity.type).condition != nil
      if isTracked, course.tracked == 0 { course.tracked = course.turn(at: now) }
      let isNew = courses[entity.type]?.tracked != course.tracked
      if isNew, onlyReads { return false }
      courses[entity.type] = course
      if isNew || ids == nil { try compare(entity.type) }
    }
    let served = ids?.filter { schema[$0.type] != nil } ?? []
    var changes = StoreChanges()
    for (id, record) in zip(served, try snapshot.records(withIDs: served)) {
      try stamp(record, of: id, in: &changes)
    }
    if onlyReads, !changes.isEmpty { return false }
    try transaction?.apply(changes)
    (identity, position) = (current, news.position)
    guard let caller else { return true }
    for type in types where try rightsStart(of: caller, type) == nil {
      guard courses[type] != nil else { continue }
      if onlyReads { return false }
      try rememberRights(of: caller, type)
    }
    return true
  }

  /// Compares all of a type's records with the ledger, whose names alone are read.
  private mutating func compare(_ type: RecordType) throws(SyncError) {
    var known: [RecordID: UInt64?] = [:]
    try walk(type) { (places) in
      for place in places { known[place.id] = .some(place.digest) }
      return true
    }
    let keepsStates = courses[type]?.tracked ?? 0 > 0
    var portions = snapshot.portions(of: Query(type))
    while let records = try portions.next() {
      var changes = StoreChanges()
      for record in records {
        let former = known.removeValue(forKey: record.id)
        if former == .some(.some(Self.digest(record))), !keepsStates { continue }
        try stamp(record, of: record.id, isNew: former == nil, in: &changes)
      }
      try transaction?.apply(changes)
    }
    var changes = StoreChanges()
    for (id, digest) in known.sorted(by: { $0.key < $1.key }) where digest != nil || keepsStates {
      try stamp(nil, of: id, in: &changes)
    }
    try transaction?.apply(changes)
  }

  /// Gives a record a timestamp if it is not as the ledger has it, and returns its timestamp.
  ///
  /// - Parameters:
  ///   - renews: Whether it gets one in any case.
  ///   - isNew: Whether the ledger is known to lack it.
  ///   - changes: Takes what is to be written.
  @discardableResult
  mutating func stamp(
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
    if entry.digest != digest || renews {
      course.last = max(now.milliseconds, course.last + 1)
      courses[id.type] = course
      if let old { changes.values.append(.init(Self.placeKey(id, old.stamp, old.digest), nil)) }
      (entry.stamp, entry.digest) = (course.last, digest)
      changes.values.append(.init(Self.placeKey(id, entry.stamp, digest), [1]))
    }
    if course.tracked > 0 {
      let fields = record.map { Self.fields(of: $0, entity) }
      if entry.states.isEmpty || entry.states.last?.fields != fields {
        entry.states.append((isUntracked ? course.tracked : entry.stamp, fields))
        entry.states = entry.states.suffix(Self.maximumStates)
      }
    }
    changes.values.append(.init(Self.recordKey(id), entry.bytes))
    return entry.stamp
  }

  // MARK: Reading

  /// When a type was first served.
  func birth(_ type: RecordType) -> Int64 { courses[type]?.birth ?? 1 }

  /// What is known of a record.
  func entry(of id: RecordID) throws(SyncError) -> Entry? {
    guard let bytes = try snapshot.value(forKey: Self.recordKey(id)) else { return nil }
    guard let entry = Entry(bytes) else { throw Self.damaged }
    return entry
  }

  /// Visits a type's records between two timestamps, in the order of timestamps and in portions,
  /// until the body returns `false`.
  func walk(
    _ type: RecordType, _ span: Span = Span(), descends: Bool = false,
    _ body: ([Place]) throws(SyncError) -> Bool
  ) throws(SyncError) {
    var span = span
    if !descends {
      while true {
        let places = try places(type, span, limit: Self.portion)
        guard try body(places), places.count == Self.portion, let last = places.last else { return }
        span.after = last.stamp
      }
    }
    // A store lists its keys upwards only. Timestamps differ, so a window of so many of them holds at
    // most as many records.
    guard let course = courses[type] else { return }
    span.after = max(span.after, course.birth - 1)
    span.before = min(span.before, course.last + 1)
    var width = Int64(Self.portion)
    while span.before - 1 > span.after {
      let start = max(span.after, span.before - 1 - width)
      let places = try places(type, Span(after: start, before: span.before), limit: Self.portion + 1)
      if places.count > Self.portion {
        width /= 2
        continue
      }
      guard try body(places.reversed()) else { return }
      span.before = start + 1
      if places.count < Self.portion / 8 { width = min(width * 8, 1 << 50) }
    }
  }

  private func places(_ type: RecordType, _ span: Span, limit: Int) throws(SyncError) -> [Place] {
    let prefix = Self.placePrefix(type)
    let start = prefix + Self.hex(UInt64(max(0, span.after)) + 1)
    var places: [Place] = []
    for name in try snapshot.keys(withPrefix: prefix, after: start, limit: limit) {
      let parts = name.utf8.dropFirst(prefix.utf8.count)
        .split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        .map { String(Substring($0)) }
      guard parts.count == 3, let stamp = Int64(parts[0], radix: 16) else { throw Self.damaged }
      guard stamp < span.before else { break }
      places.append((stamp, RecordID(type: type, key: parts[2]), UInt64(parts[1], radix: 16)))
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
  private mutating func rememberRights(of caller: ServiceCaller, _ type: RecordType) throws(SyncError) {
    guard var course = courses[type] else { return }
    let key = Self.rightsKey(caller, type)
    let start = try snapshot.value(forKey: key) == nil ? 0 : course.turn(at: now)
    courses[type] = course
    try transaction?.setValue(Array("\(start) \(Self.scopeText(caller, type))".utf8), forKey: key)
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
    let all = (try? FieldMap(record.payload)) ?? FieldMap()
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
    guard let (stamp, rest) = lines.first else { return nil }
    (self.stamp, digest) = (stamp, UInt64(String(decoding: rest, as: UTF8.self), radix: 16))
    if digest == nil, rest != Self.none { return nil }
    states = lines.dropFirst().map { ($0.stamp, $0.rest == Self.none ? nil : Payload($0.rest)) }
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
