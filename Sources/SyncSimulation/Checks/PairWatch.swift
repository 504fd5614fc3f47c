import InMemoryAdapters
import SyncCore
import SyncModels
import SyncPorts
import Synchronization

/// Checks that the edits of an atomic group reach the remote together.
///
/// Each group is a pair of edits, which write its number into both records. Once the app edits one of
/// the records in another way, or allows refused edits, the pair is no longer checked.
final class PairWatch: Sendable {
  static let member: FieldName = "pair"

  private struct Pair {
    var ids: [RecordID]
    /// The stamps under which the edits were sent.
    var stamps: [RecordID: Set<EditStamp>] = [:]
  }
  private let pairs = Mutex<[Int: Pair]>([:])

  /// Notes a new pair.
  func made(_ number: Int, of ids: [RecordID]) {
    ids.forEach(edited)
    pairs.withLock { $0[number] = Pair(ids: ids) }
  }

  /// Notes another edit of a record.
  func edited(_ id: RecordID) {
    pairs.withLock { pairs in pairs = pairs.filter { !$0.value.ids.contains(id) } }
  }

  /// Notes that refused edits are allowed, or go to another remote.
  func allowed() { pairs.withLock { $0 = [:] } }

  /// Checks changes that are about to be sent in one request, and describes those that are apart from
  /// the other edit of their pair.
  func sending(
    _ changes: [OutgoingChange], _ view: StoreView, _ effects: [InMemoryRemote.PushEffect]
  ) -> [(id: RecordID, words: String)] {
    pairs.withLock { pairs in
      var apart: [(id: RecordID, words: String)] = []
      for change in changes {
        guard let number = Self.number(in: change.content), var pair = pairs[number] else { continue }
        pair.stamps[change.id, default: []].insert(change.stamp)
        pairs[number] = pair
      }
      for change in changes {
        guard let number = Self.number(in: change.content), let pair = pairs[number],
          let other = pair.ids.first(where: { $0 != change.id }), !changes.contains(where: { $0.id == other })
        else { continue }
        let stamps = pair.stamps[other, default: []]
        if effects.contains(where: { $0.id == other && stamps.contains($0.stamp) }) { continue }
        if Self.number(in: view.outbox[other]?.edit.content) == number {
          apart.append((change.id, "without the pending edit of \(other)"))
        } else if view.conflicts.contains(where: {
          $0.id == other && $0.winner == .remote && Self.number(in: $0.local.content) == number
        }) {
          apart.append((change.id, "although the edit of \(other) has lost"))
        }
      }
      return apart
    }
  }

  private static func number(in content: Edit.Content?) -> Int? {
    guard let payload = content?.payload, let bytes = try? FieldMap(payload)[member] else { return nil }
    return Int(String(decoding: bytes, as: UTF8.self))
  }
}
