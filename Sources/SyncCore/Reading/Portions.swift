import SyncModels
import SyncPorts

/// The portions of a list in the store, read one after the other.
///
/// ```swift
/// var portions = snapshot.portions(outbox: type)
/// while let entries = try portions.next() { … }
/// ```
struct Portions<Element, Place> {
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
  mutating func next() throws(SyncError) -> [Element]? {
    if isOver { return nil }
    let portion = try read(last)
    isOver = portion.count < limit
    last = portion.last.map(place)
    return portion.isEmpty ? nil : portion
  }
}

extension StoreSnapshot {
  /// The records of a query by key, in portions of the query's limit.
  func portions(of query: Query) -> Portions<Record, String> {
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

  /// The withheld changes of a type, of some kinds.
  func portions(
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

  /// The pending edits of a type.
  func portions(outbox type: RecordType) -> Portions<OutboxEntry, EditStamp> {
    Portions(at: \.edit.stamp) { (last) throws(SyncError) in try portion(outbox: type, after: last) }
  }
}
