import SyncModels
import Synchronization

/// The types whose last complete listing ended before the total that it named.
///
/// It knows the keys of the listings under way, because pages may repeat some records and skip others.
final class Shortfalls: Sendable {
  private let types = Mutex<Set<RecordType>>([])
  private let listed = Mutex<[RecordType: Listed]>([:])
  /// The list that first had a key, and the content there, both by hashes.
  private let lists = Mutex<[RecordType: (pass: Int64, first: [Int: (list: Int, content: Int)])]>([:])

  /// The digests of the keys of a listing under way.
  private struct Listed {
    var pass: Int64
    var page: Int
    var before: Set<Int> = []
    /// Those of the last page, which may be asked for again.
    var last: Set<Int> = []
  }

  /// Returns how many keys of a page the pages before it have had.
  ///
  /// After a restart of the process, the pages before are unknown.
  func repeats(of keys: [String], page: Int, of request: PageRequest) -> Int {
    let digests = Set(keys.map(\.hashValue))
    return listed.withLock { listed in
      // Taken out, because a change of a copy would copy all digests.
      var own = listed.removeValue(forKey: request.entity.type) ?? Listed(pass: request.pass, page: page)
      if page == 0 || own.pass != request.pass || page < own.page {
        own = Listed(pass: request.pass, page: page)
      }
      if page > own.page { own.before.formUnion(own.last) }
      (own.page, own.last) = (page, digests)
      listed[request.entity.type] = own
      return own.before.isDisjoint(with: digests) ? 0 : own.before.intersection(digests).count
    }
  }

  /// Returns the key of a record that has another content in a list before this one.
  ///
  /// After a restart of the process, the lists before are unknown.
  func other(
    _ changes: [RecordChange], _ rows: [ArraySlice<UInt8>], list: Int, of request: PageRequest
  ) -> String? {
    lists.withLock { lists in
      var own = lists.removeValue(forKey: request.entity.type) ?? (pass: request.pass, first: [:])
      if own.pass != request.pass { own = (request.pass, [:]) }
      defer { lists[request.entity.type] = own }
      var other: String?
      for (change, row) in zip(changes, rows) {
        guard let key = change.id?.key else { continue }
        if let first = own.first[key.hashValue] {
          if first.list != list, first.content != row.hashValue { other = key }
        } else {
          own.first[key.hashValue] = (list, row.hashValue)
        }
      }
      return other
    }
  }

  /// Counts such a listing; `false` for the second in succession, after which the count begins anew.
  func isFirst(of type: RecordType) -> Bool {
    types.withLock { types in
      if types.remove(type) != nil { return false }
      types.insert(type)
      return true
    }
  }

  /// Notes a listing that was whole.
  func end(of type: RecordType) {
    types.withLock { _ = $0.remove(type) }
    listed.withLock { $0[type] = nil }
    lists.withLock { $0[type] = nil }
  }
}
