package import SyncModels
package import SyncPorts

/// The result of one step of a walk through a list of the store.
struct Portion<Place: Sendable>: Sendable {
  var tally = Tally()
  /// The records that the step removed, released or hid, in order.
  var ids: [RecordID] = []
  /// The place after which the next portion begins; `nil` after the last.
  var end: Place?
}

/// The portions of a list in the store, read one after the other.
///
/// ```swift
/// var portions = snapshot.portions(outbox: type)
/// while let entries = try portions.next() { … }
/// ```
package struct Portions<Element, Place> {
  private let read: (Place?) throws(SyncError) -> [Element]
  private let place: (Element) -> Place
  private let limit: Int
  private var last: Place?
  private var isOver = false

  /// Describes a walk through a list.
  ///
  /// - Parameters:
  ///   - place: The place of an element, after which a portion can begin.
  ///   - limit: The size of a portion. A smaller one is the last.
  ///   - read: Reads the portion after a place.
  init(
    at place: @escaping (Element) -> Place, limit: Int = MergeContext.portion,
    _ read: @escaping (Place?) throws(SyncError) -> [Element]
  ) {
    self.read = read
    self.place = place
    self.limit = limit
  }

  /// Returns the next portion; `nil` after the last.
  package mutating func next() throws(SyncError) -> [Element]? {
    if isOver { return nil }
    let portion = try read(last)
    isOver = portion.count < limit
    last = portion.last.map(place)
    return portion.isEmpty ? nil : portion
  }
}

extension StoreSnapshot {
  /// The records of a query by key, in portions of the query's limit.
  package func portions(of query: Query) -> Portions<Record, String> {
    let limit = query.limit ?? MergeContext.portion
    return Portions(at: \.id.key, limit: limit) { (last) throws(SyncError) in
      var query = query
      query.limit = limit
      query.afterKey = last ?? query.afterKey
      return try portion(of: query)
    }
  }

  /// The live records without a mark.
  func portions(unmarked type: RecordType) -> Portions<Tombstone, String> {
    Portions(at: \.id.key) { (last) throws(SyncError) in try portion(unmarked: type, after: last) }
  }

  /// All rows of a type, those of deleted records too.
  func portions(rows type: RecordType) -> Portions<StoredRow, String> {
    Portions(at: \.id.key) { (last) throws(SyncError) in try portion(rows: type, .all, after: last) }
  }

  /// The withheld changes of a type, of some kinds.
  package func portions(
    withheld type: RecordType, _ kinds: Set<WithheldChange.Kind>
  ) -> Portions<WithheldChange, WithheldChange.Key> {
    Portions(at: \.key) { (last) throws(SyncError) in
      try portion(withheld: type, kinds, after: last)
    }
  }

  /// The withheld copies that refer to some records, of some kinds.
  func portions(
    withheldReferringTo ids: [RecordID], _ kinds: Set<WithheldChange.Kind>
  ) -> Portions<WithheldChange, WithheldChange.Key> {
    Portions(at: \.key) { (last) throws(SyncError) in
      try portion(related: .referringTo, ids, kinds, after: last)
    }
  }

  /// The names that begin with a prefix.
  func portions(keys prefix: String) -> Portions<String, String> {
    Portions(at: \.self) { (last) throws(SyncError) in try portion(keys: prefix, after: last) }
  }

  /// The pending edits of a type.
  package func portions(outbox type: RecordType) -> Portions<OutboxEntry, EditStamp> {
    Portions(at: \.edit.stamp) { (last) throws(SyncError) in try portion(outbox: type, after: last) }
  }

  /// A type's conflicts, the newest first, in portions.
  func portions(conflicts type: RecordType) -> Portions<Conflict, Int64> {
    Portions(at: \.number) { (last) throws(SyncError) in
      try portion(conflicts: type, before: last, limit: MergeContext.portion)
    }
  }
}

// The engine walks through large lists in these portions. Each portion begins after the key at
// which the previous one ended, so a walk ends as long as keys ascend. A damaged store may return
// the same keys again and again. Without this check the walk would never end, and would hold the
// lease.
extension StoreSnapshot {
  /// Returns a portion of ``StoreSnapshot/records(_:)``; the query has no order but the keys'.
  package func portion(of query: Query) throws(SyncError) -> [Record] {
    try advancing(
      try records(query), past: query.afterKey, at: \.id.key, by: { $0.precedesByUTF8($1) },
      reading: "the records of \(query.type)")
  }

  /// Returns a portion of ``StoreSnapshot/rows(_:_:after:limit:)``.
  package func portion(
    rows type: RecordType, _ selection: RowSelection, after key: String?
  ) throws(SyncError) -> [StoredRow] {
    try advancing(
      try rows(type, selection, after: key, limit: MergeContext.portion), past: key, at: \.id.key,
      by: { $0.precedesByUTF8($1) }, reading: "the rows of \(type)")
  }

  /// Returns a portion of the live records without a mark, as tombstones of them.
  func portion(unmarked type: RecordType, after key: String?) throws(SyncError) -> [Tombstone] {
    try portion(rows: type, .unmarked, after: key).map {
      Tombstone(id: $0.id, version: $0.version, entityTag: $0.entityTag)
    }
  }

  /// Returns a portion of ``StoreSnapshot/withheld(_:kinds:after:limit:)``.
  package func portion(
    withheld type: RecordType, _ kinds: Set<WithheldChange.Kind>, after key: WithheldChange.Key?,
    limit: Int? = nil
  ) throws(SyncError) -> [WithheldChange] {
    try advancing(
      try withheld(type, kinds: kinds, after: key, limit: limit ?? MergeContext.portion), past: key,
      at: \.key, by: <,
      reading: "the withheld changes of \(type)")
  }

  /// Returns a portion of ``StoreSnapshot/withheld(_:_:kinds:after:limit:)``.
  package func portion(
    related relation: WithheldChange.Relation, _ ids: [RecordID], _ kinds: Set<WithheldChange.Kind>,
    after key: WithheldChange.Key?
  ) throws(SyncError) -> [WithheldChange] {
    try advancing(
      try withheld(relation, ids, kinds: kinds, after: key, limit: MergeContext.portion), past: key,
      at: \.key, by: <, reading: "the withheld changes that depend on others")
  }

  /// Returns a portion of ``StoreSnapshot/outbox(_:after:limit:)``.
  package func portion(
    outbox type: RecordType, after stamp: EditStamp?, limit: Int? = nil
  ) throws(SyncError) -> [OutboxEntry] {
    try advancing(
      try outbox(type, after: stamp, limit: limit ?? MergeContext.portion), past: stamp, at: \.edit.stamp,
      by: <,
      reading: "the outbox of \(type)")
  }

  /// Returns a portion of ``StoreSnapshot/keys(withPrefix:after:limit:)``.
  package func portion(
    keys prefix: String, after key: String?, limit: Int? = nil
  ) throws(SyncError) -> [String] {
    try advancing(
      try keys(withPrefix: prefix, after: key, limit: limit ?? MergeContext.portion), past: key, at: \.self,
      by: { $0.precedesByUTF8($1) }, reading: "the names that begin with \(prefix)")
  }

  /// Returns a portion of ``StoreSnapshot/duplicates(_:after:limit:)``.
  package func portion(
    duplicates type: RecordType, after key: String?, limit: Int
  ) throws(SyncError) -> [DuplicateGroup] {
    try advancing(
      try duplicates(type, after: key, limit: limit), past: key, at: \.key, by: { $0.precedesByUTF8($1) },
      reading: "the duplicates of \(type)")
  }

  /// Returns a portion of ``StoreSnapshot/conflicts(_:before:limit:)``, whose numbers descend.
  package func portion(
    conflicts type: RecordType?, before number: Int64?, limit: Int
  ) throws(SyncError) -> [Conflict] {
    try advancing(
      try conflicts(type, before: number, limit: limit), past: number, at: \.number, by: >,
      reading: "the log of conflicts")
  }

  /// Checks that a portion ends after its start, or is empty.
  private func advancing<Element, Place>(
    _ portion: [Element], past start: Place?, at place: (Element) -> Place,
    by precedes: (Place, Place) -> Bool, reading what: @autoclosure () -> String
  ) throws(SyncError) -> [Element] {
    guard let start, let end = portion.last.map(place), !precedes(start, end) else { return portion }
    throw SyncError(
      .storeUnreadable, during: "reading \(what())",
      """
      The store returns the same entries again, and would do so forever: it is damaged. Everything committed before \
      is kept.
      """)
  }
}

extension Array {
  /// Splits the elements into portions of a size, in order.
  func portions(of size: Int) -> [[Element]] {
    stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
  }
}

extension StoreSnapshot {
  /// Returns the withheld changes of some records, by record.
  func withheld(of ids: some Collection<RecordID>) throws(SyncError) -> [RecordID: WithheldChange] {
    var withheld: [RecordID: WithheldChange] = [:]
    for entry in try self.withheld(for: ids.map { .record($0) }) {
      if case .record(let id) = entry.key { withheld[id] = entry }
    }
    return withheld
  }

  /// Returns the pending edits of some records, by record.
  func edits(of ids: [RecordID]) throws(SyncError) -> [RecordID: OutboxEntry] {
    let entries = try outbox(for: ids)
    var edits = [RecordID: OutboxEntry](minimumCapacity: entries.count)
    for entry in entries { edits[entry.id] = entry }
    return edits
  }

  /// Returns the pending edits of some records, in the order of the records.
  func editsInTurn(of ids: [RecordID]) throws(SyncError) -> EditsInTurn {
    EditsInTurn(try outbox(for: ids), of: ids)
  }
}

/// Pending edits of some records, in the order of the records.
struct EditsInTurn {
  private let entries: [OutboxEntry]
  /// The places of the records' edits among the entries; `nil` if each is at its record's place.
  private var places: [Int?]?

  fileprivate init(_ entries: [OutboxEntry], of ids: [RecordID]) {
    self.entries = entries
    // Stores that answer in the order of the question, as most do, need no table.
    if entries.count == ids.count, entries.indices.allSatisfy({ entries[$0].id == ids[$0] }) { return }
    let table = Dictionary(zip(entries.map(\.id), entries.indices)) { _, last in last }
    places = ids.map { table[$0] }
  }

  /// The edit of the record at a place.
  subscript(place: Int) -> OutboxEntry? {
    guard let places else { return entries[place] }
    return places[place].map { entries[$0] }
  }
}
