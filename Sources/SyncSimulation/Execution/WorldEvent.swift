import SyncCore
package import SyncModels

/// One event of a world: a line of its timeline, and a mark of its picture.
package struct WorldEvent: Sendable {
  /// The time since the world began, by its own clock.
  package var time: Duration
  /// The part of the world that acts: `remote`, `app 1`, `app 1.2` for its second life, `store`.
  package var who: String
  package var kind: Kind
  /// What happens, without the actor.
  package var words: String
  package var facts = Facts.none

  /// What a mark stands for.
  package enum Kind: String, Sendable, CaseIterable {
    case write, edit, page, push, commit, fault, crash, stop, clock, lease, life, sync, world, broken, note
  }

  /// What an event means for records, for a caption.
  package enum Facts: Sendable {
    case none
    /// The remote has a record in another state.
    case remote(RecordID, RemoteState)
    /// The remote has no record of a type any more.
    case wiped(RecordType)
    case page(ServedPage)
    /// A lookup's copies, or the remote's answers to a push.
    case answers([Delivery], isPush: Bool)
    case commit(Commit)
    /// The store has records in another state than the last commit left them.
    case found([Touch])
    /// Every record of store and remote after a sync without faults.
    case comparison(Comparison)
    case broken(Violation)
  }

  /// What the remote has of a record.
  package enum RemoteState: Hashable, Sendable {
    case copy(String), nothing, unreadable
  }

  /// What a process got of one record.
  package struct Delivery: Sendable {
    /// The record; `nil` for bytes without a known key.
    package var id: RecordID?
    /// The remote's state of it, as far as the answer told.
    package var state: RemoteState?
    /// The remote's answer to a push, in words.
    package var answer = ""

    init(_ id: RecordID?, _ state: RemoteState?, answer: String = "") {
      (self.id, self.state, self.answer) = (id, state, answer)
    }

    init(_ change: RecordChange) {
      id = change.id
      state =
        switch change {
        case .upsert(let record): .copy(record.payload.text)
        case .tombstone: .nothing
        case .malformed: .unreadable
        }
    }
  }

  /// A page that a process got.
  package struct ServedPage: Sendable {
    package var type: RecordType
    package var pass: Int64
    /// Whether the page is the first one of its pass.
    package var isFirst: Bool
    package var isLast: Bool
    /// Whether the remote made the pass start over, so that the page has no changes.
    package var isReset: Bool
    package var changes: [Delivery]
    /// The records that the page listed without their contents.
    package var present: [RecordID]
    /// Whether the pass lists everything, and not only changes.
    package var isListing: Bool
  }

  /// A transaction of the store.
  package struct Commit: Sendable {
    /// Every record that the transaction was asked to change, or that its pages have.
    package var touched: [Touch] = []
    package var moves: [Move] = []
  }

  /// A checkpoint that a transaction saved.
  package struct Move: Sendable {
    package var type: RecordType
    /// The ids of each covered page; `nil` if it covers more than the process got.
    package var pages: [[RecordID?]]?
    /// Whether it has the token for the next delta, not a place.
    package var isComplete: Bool
  }

  /// The store beside the remote.
  package struct Comparison: Sendable {
    /// The number of syncs without faults.
    package var round: Int
    package var isEqual: Bool
    package var here: [RecordID: Kept]
    package var there: [RecordID: RemoteState]
  }

  /// A record before and after a transaction.
  package struct Touch: Sendable {
    package var id: RecordID
    package var before: Kept
    package var after: Kept
  }

  /// What a store has of a record.
  package struct Kept: Hashable, Sendable {
    /// The shown payload.
    package var shown: String?
    package var withheld: Withheld?
    /// The content of the pending edit; empty for a deletion.
    package var edit: String?

    package struct Withheld: Hashable, Sendable {
      package var kind: WithheldChange.Kind
      package var waitsFor: [RecordID]
    }
  }
}

extension Payload {
  /// The payload for a person.
  var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension WorldEvent.ServedPage {
  init(_ page: RecordPage, to request: PageRequest) {
    (type, pass) = (request.entity.type, request.pass)
    if case .start = request.position { isFirst = true } else { isFirst = false }
    if case .done = page.next { isLast = true } else { isLast = false }
    if case .reset = page.next { isReset = true } else { isReset = false }
    changes = isReset ? [] : page.changes.map(WorldEvent.Delivery.init)
    present = isReset ? [] : page.present.map(\.id)
    isListing = page.coverage == .full
  }
}

extension WorldEvent.Delivery {
  init(_ change: OutgoingChange, _ outcome: PushOutcome, answer: String) {
    switch outcome {
    case .accepted(let told), .conflict(let told?): self.init(told)
    case .conflict(nil): self.init(change.id, .nothing)
    case .moved(let record): self.init(.upsert(record))
    case .unknown, .refused, .retryLater, .quotaExceeded, .notApplied: self.init(change.id, nil)
    }
    self.answer = answer
  }
}

extension WorldEvent.Kept {
  init(_ id: RecordID, in view: StoreView) {
    shown = view.live[id]?.payload.text
    withheld = view.withheld[.record(id)].map { Withheld(kind: $0.kind, waitsFor: $0.waitsFor) }
    edit = view.outbox[id].map { $0.edit.content.payload?.text ?? "" }
  }
}

extension WorldEvent.Comparison {
  init(_ round: Int, _ differences: [Difference], _ view: StoreView, _ truth: RemoteTruth) {
    self.round = round
    isEqual = differences.isEmpty
    let waiting = view.withheld.values.compactMap(\.change.id)
    let ids = Set(view.live.keys).union(view.outbox.keys).union(waiting)
    here = Dictionary(uniqueKeysWithValues: ids.map { ($0, WorldEvent.Kept($0, in: view)) })
    there = truth.payloads.mapValues { .copy($0.text) }
    for id in truth.malformed { there[id] = .unreadable }
  }
}
