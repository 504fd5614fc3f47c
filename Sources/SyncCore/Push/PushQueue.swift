import SyncModels
import SyncPorts

/// What the queue gives for the next batch.
struct PushPick: Hashable, Sendable {
  var ids: [RecordID] = []
  /// Whether they are one atomic group.
  var isGroup = false

  fileprivate mutating func add(_ edit: PushCandidate) {
    ids.append(edit.entry.id)
    if edit.others.isEmpty { return }
    ids += edit.others.map(\.id)
    isGroup = true
  }
}

extension PushCandidate {
  /// Whether sending it needs room for a new record.
  var isNewToTheRemote: Bool { entries.contains(where: \.isNewToTheRemote) }
}

/// The edits of one portion that are still to be sent, in order.
struct PushQueue {
  private var edits: [PushCandidate] = []
  /// Records that others in the queue wait for.
  ///
  /// They are not at the remote yet. In the deletion stage, they still refer to a record that is to
  /// be deleted.
  private var absent: Set<RecordID> = []

  /// Creates an empty queue.
  init() {}

  /// Creates the queue of a portion's edits.
  init(_ edits: [PushCandidate]) {
    self.edits = edits
    absent = Set(edits.flatMap(\.waitsFor))
  }

  /// Records that edits no longer have to wait for a record.
  mutating func settle(_ id: RecordID) {
    if !absent.isEmpty { absent.remove(id) }
  }

  /// Puts edits before all others.
  mutating func putFirst(_ first: [PushCandidate]) {
    if !first.isEmpty { edits = first + edits }
  }

  /// Removes the edits of records that are new to the remote.
  mutating func removeNew() {
    edits.removeAll(where: \.isNewToTheRemote)
  }

  /// Takes the next batch.
  ///
  /// The batch is in the queue's order, within the sink's limits, and without edits that wait for
  /// others. A group is a batch of its own.
  mutating func pick(within limits: SinkLimits) -> PushPick {
    var pick = PushPick()
    var bytes = 0
    // The edits before the end of the batch that wait.
    var waiting: [Int] = []
    var end = edits.startIndex
    while end < edits.endIndex, !pick.isGroup {
      let edit = edits[end]
      if !edit.waitsFor.isEmpty, !absent.isDisjoint(with: edit.waitsFor) {
        waiting.append(end)
      } else {
        let (sum, overflow) = bytes.addingReportingOverflow(edit.entry.sizeToSend)
        let isFull = pick.ids.count >= limits.maximumRecords || overflow || sum > limits.maximumBytes
        if !pick.ids.isEmpty, isFull || !edit.others.isEmpty { break }
        pick.add(edit)
        bytes = sum
      }
      end += 1
    }
    if pick.ids.isEmpty {
      guard let first = edits.memberOfCircle(absent: absent),
        let place = edits.firstIndex(where: { $0.entry.id == first })
      else {
        // Edits that wait for a record that this push does not send wait for the next push.
        edits = []
        return pick
      }
      pick.add(edits.remove(at: place))
      return pick
    }
    // Moved behind the batch, in order, without copies.
    var kept = end
    for place in waiting.reversed() {
      kept -= 1
      edits.swapAt(kept, place)
    }
    edits.removeFirst(kept)
    return pick
  }
}

extension [PushCandidate] {
  /// Returns a candidate of a circle in which all wait only for each other.
  ///
  /// Unless one of them goes first, none could ever be sent.
  ///
  /// - Parameter absent: The records that the remote does not have.
  /// - Complexity: O(*n*²) at worst, when every candidate waits for the next one.
  fileprivate func memberOfCircle(absent: Set<RecordID>) -> RecordID? {
    var waiting = Dictionary(
      map { ($0.entry.id, $0.waitsFor.filter(absent.contains)) }, uniquingKeysWith: { first, _ in first })
    // A candidate that waits, directly or indirectly, for a record outside of the candidates keeps
    // waiting.
    while true {
      let blocked = waiting.filter { $0.value.contains { waiting[$0] == nil } }
      if blocked.isEmpty { break }
      for id in blocked.keys { waiting[id] = nil }
    }
    guard var id = lazy.map(\.entry.id).first(where: { waiting[$0] != nil }) else { return nil }
    var passed: Set<RecordID> = []
    while passed.insert(id).inserted, let next = waiting[id]?.first { id = next }
    return id
  }
}
