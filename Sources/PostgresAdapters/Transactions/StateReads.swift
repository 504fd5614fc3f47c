#if Postgres
  import CanonicalSyncDatabases
  import SyncModels
  import SyncPorts

  /// The read of the states of some records of one type.
  struct StateRead {
    let ids: [RecordID]
    let statement: Statement
    /// The keys of ``ids``, to find those of the result's rows.
    let keys: SortedKeys
    /// The least and the greatest size of the payloads that come along.
    private let sizes: ClosedRange<Int>?

    /// - Parameter payloads: The payloads to compare with those of the rows, or none.
    init(of ids: [RecordID], at places: [Int], comparing payloads: [Payload], in table: EntityTable) {
      let keys = SortedKeys(ids, at: places)
      let sizes = payloads.isEmpty ? nil : Self.sizes(of: payloads, at: places)
      (self.ids, self.keys, self.sizes) = (ids, keys, sizes)
      statement = Statement(table.states) { parameters in
        parameters.add(keys: ids, at: keys.places)
        // Payloads whose size fits come along, and are compared here.
        parameters.add(Int64(sizes?.lowerBound ?? 0))
        parameters.add(Int64(sizes?.upperBound ?? -1))
      }
    }

    /// Whether the read answers a question.
    func answers(_ ids: [RecordID], comparing payloads: [Payload]) -> Bool {
      guard ids == self.ids else { return false }
      guard let asked = payloads.isEmpty ? nil : Self.sizes(of: payloads, at: Array(payloads.indices)) else {
        return true
      }
      return sizes.map { $0.lowerBound <= asked.lowerBound && asked.upperBound <= $0.upperBound } ?? false
    }

    private static func sizes(of payloads: [Payload], at places: [Int]) -> ClosedRange<Int>? {
      var (least, greatest) = (Int.max, Int.min)
      for place in places {
        least = min(least, payloads[place].bytes.count)
        greatest = max(greatest, payloads[place].bytes.count)
      }
      return least <= greatest ? least...greatest : nil
    }
  }

  /// Reads of states that the server runs before they are asked for.
  ///
  /// Once the first one's result is there, the others go to the server together. It runs them, and
  /// the writes that follow, while the transaction works with what it has. A read that was sent is
  /// of use only if nothing writes its records before it is asked for.
  struct ReadsAhead {
    private var reads: ArraySlice<StateRead> = []
    /// The numbers of the reads' statements; empty if they were not sent.
    private var numbers: ArraySlice<Int> = []
    /// The last read that was asked for.
    private var current: StateRead?

    /// Creates no reads.
    init() {}

    /// Plans reads for pages, up to the first one that has other changes than copies.
    ///
    /// There are none if pages have a record in common, as one page may write it for the next.
    init(of pages: [[RecordChange]], in catalog: Catalog) {
      for page in pages {
        guard let read = StateRead(of: page, in: catalog) else { break }
        reads.append(read)
      }
      if reads.haveRecordsInCommon { reads = [] }
    }

    /// Whether the server is running reads.
    ///
    /// It then does well to begin with a write at once.
    var isUnderWay: Bool { !numbers.isEmpty }

    /// Takes the next read if it answers a question.
    ///
    /// - Returns: The read, with its statement's number if it was sent.
    mutating func take(
      _ ids: [RecordID], comparing payloads: [Payload]
    ) -> (read: StateRead, number: Int?)? {
      guard let next = reads.first, next.answers(ids, comparing: payloads) else { return nil }
      reads.removeFirst()
      current = next
      return (next, numbers.popFirst())
    }

    /// The reads to send now: those that follow the first one, once that was asked for.
    var unsent: ArraySlice<StateRead> { current != nil && numbers.isEmpty ? reads : [] }

    mutating func noteSent(_ numbers: ArraySlice<Int>) { self.numbers = numbers }

    /// Gives up what a write makes useless: all, unless it writes only records that were just read.
    mutating func note(_ changes: StoreChanges) {
      guard let ids = current?.ids, isUnderWay else { return }
      if changes.unmarkedTypes.isEmpty, changes.deleted.isEmpty,
        ids.contains(inOrder: changes.put), ids.contains(inOrder: changes.versions)
      {
        return
      }
      self = ReadsAhead()
    }
  }

  extension StateRead {
    /// Plans the read for a page of copies of one type; `nil` for another page.
    fileprivate init?(of page: [RecordChange], in catalog: Catalog) {
      var (ids, payloads): ([RecordID], [Payload]) = ([], [])
      for change in page {
        guard case .upsert(let copy) = change else { return nil }
        ids.append(copy.id)
        payloads.append(copy.payload)
      }
      guard let type = ids.first?.type, let table = catalog.tables[type],
        ids.allSatisfy({ $0.type == type })
      else { return nil }
      self.init(of: ids, at: Array(ids.indices), comparing: payloads, in: table)
    }
  }

  extension ArraySlice<StateRead> {
    fileprivate var haveRecordsInCommon: Bool {
      // Mostly the pages are in the order of keys, which is cheaper to find out.
      if zip(self, dropFirst()).allSatisfy({ $0.keys.areAll(before: $1.keys) }) { return false }
      return Set(lazy.map(\.ids).joined()).count != reduce(0) { $0 + $1.ids.count }
    }
  }

  extension [RecordID] {
    /// Whether records are among these, in the same order.
    fileprivate func contains(inOrder records: [Record]) -> Bool {
      var rest = self[...]
      for record in records {
        guard let place = rest.firstIndex(of: record.id) else { return false }
        rest = rest[(place + 1)...]
      }
      return true
    }
  }
#endif
