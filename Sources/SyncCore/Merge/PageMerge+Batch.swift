import SyncModels
import SyncPorts

extension PageMerge {
  /// Everything that one round reads and writes.
  struct Batch {
    var copies: [Record] = []
    /// Where each of the copies comes from; empty where all are of the page.
    var origins: [Incoming.Origin] = []
    var tombstones: [(tombstone: Tombstone, origin: Incoming.Origin)] = []
    var withheld: [WithheldChange] = []
    var superseded: [WithheldChange.Key] = []
    /// Records of which this pass has listed a copy that had to wait: the mark on the row is that copy's, and not the row's own.
    var waited: Set<RecordID> = []
    var marks: [RecordID] = []

    init(capacity: Int) {
      copies.reserveCapacity(capacity)
      origins.reserveCapacity(capacity)
      marks.reserveCapacity(capacity)
    }

    init(copies: [Record]) {
      self.copies = copies
    }

    func origin(ofCopy place: Int) -> Incoming.Origin {
      origins.isEmpty ? .page : origins[place]
    }

    /// What is set aside, each key once. Bytes that are there already stay the find of the day they were first seen, and nameless ones that of the sync.
    func entries(in transaction: any StoreTransaction) throws(SyncError) -> [WithheldChange] {
      guard !withheld.isEmpty else { return [] }
      var places: [WithheldChange.Key: Int] = [:]
      var entries: [WithheldChange] = []
      for entry in withheld {
        if let place = places[entry.key] {
          entries[place] = entry
        } else {
          places[entry.key] = entries.count
          entries.append(entry)
        }
      }
      let unnamed = entries.filter { $0.kind == .quarantined }.map(\.key)
      guard !unnamed.isEmpty else { return entries }
      for known in try transaction.withheld(for: unnamed) where known.kind == .quarantined {
        if let place = places[known.key], known.change == entries[place].change {
          entries[place].since = known.since
          if known.change.id == nil { entries[place].fence = known.fence }
        }
      }
      return entries
    }
  }
}
