import SyncModels

/// The outbox entries: by record, by stamp, and by the records that they leave.
///
/// The order by stamp is kept for each type.
struct Outbox: Sendable {
  private var stamps = OrderedMap<RecordID, EditStamp>()
  private var entries: [RecordType: OrderedMap<Place, OutboxEntry>] = [:]
  private var leaving = OrderedMap<Departure, Void>()

  /// One record that an entry leaves.
  private struct Departure: Comparable, Sendable {
    var target: RecordID
    /// `nil` comes before every record.
    var id: RecordID?

    static func < (a: Departure, b: Departure) -> Bool {
      if a.target != b.target { return a.target < b.target }
      guard let id = b.id else { return false }
      return a.id.map { $0 < id } ?? true
    }
  }

  /// An entry's position among those of its type: by stamp, then by key.
  private struct Place: Comparable, Sendable {
    var stamp: EditStamp
    /// `nil` comes after every key.
    var key: UTF8Key?

    static func < (a: Place, b: Place) -> Bool {
      if a.stamp != b.stamp { return a.stamp < b.stamp }
      guard let key = a.key else { return false }
      return b.key.map { key < $0 } ?? true
    }
  }

  subscript(id: RecordID) -> OutboxEntry? {
    get { stamps[id].flatMap { entries[id.type]?[Place(stamp: $0, key: UTF8Key(id.key))] } }
    set {
      let key = UTF8Key(id.key)
      if let old = stamps[id] {
        let place = Place(stamp: old, key: key)
        for target in entries[id.type]?[place]?.leaves ?? [] {
          leaving[Departure(target: target, id: id)] = nil
        }
        entries[id.type]?[place] = nil
      }
      stamps[id] = newValue?.edit.stamp
      guard let newValue else { return }
      entries[id.type, default: OrderedMap()][Place(stamp: newValue.edit.stamp, key: key)] =
        newValue.detached()
      for target in newValue.leaves { leaving[Departure(target: target, id: id)] = () }
    }
  }

  func entries(_ type: RecordType, after: EditStamp?, limit: Int) -> [OutboxEntry] {
    guard limit > 0, let entries = entries[type] else { return [] }
    return entries.entries(after: after.map { Place(stamp: $0, key: nil) }).prefix(limit).map(\.value)
  }

  /// The entries that leave a record, by id.
  func entries(leaving target: RecordID, limit: Int) -> [OutboxEntry] {
    let found = leaving.entries(from: Departure(target: target, id: nil))
    return found.prefix { $0.key.target == target }.prefix(max(0, limit)).compactMap {
      $0.key.id.flatMap { self[$0] }
    }
  }

  func count(_ type: RecordType) -> Int { entries[type]?.count ?? 0 }
}

extension OutboxEntry {
  /// The entry with its own payloads, without the members that are not stored.
  fileprivate func detached() -> OutboxEntry {
    var entry = self
    entry.edit = edit.detached()
    entry.sent = sent?.detached()
    if case .copy(let record) = base { entry.base = .copy(record.bare()) }
    return entry
  }
}

extension Edit {
  /// The edit with its own payload.
  func detached() -> Edit {
    guard case .upsert(let payload, let schemaVersion) = content else { return self }
    return Edit(.upsert(payload.detached(), schemaVersion: schemaVersion), stamp: stamp)
  }
}

extension Record {
  /// The copy with its own payload, without fields.
  func bare() -> Record {
    var record = self
    record.payload = payload.detached()
    record.fields = []
    return record
  }
}
