import InMemoryAdapters
import SyncModels
import Synchronization

/// How a world's remotes break their word.
final class Moods: Sendable {
  private let hazards: Set<Hazard>
  private let choices: Choices
  private let ledger: Ledger
  private let clock: ManualClock
  /// The most pages of a listing, and until when; `nil` for no cap.
  private let cap: Mutex<(pages: Int, end: Duration)?>
  private let volatileField: FieldName?
  /// The number of copies in all answers.
  private let copies = Mutex(0)

  init(_ shape: WorldShape, choices: Choices, ledger: Ledger, clock: ManualClock) {
    (hazards, self.choices, self.ledger, self.clock) = (shape.hazards, choices, ledger, clock)
    volatileField = shape.volatileField
    let isCapped = shape.hazards.contains(.cappedLists)
    cap = Mutex(
      isCapped
        ? (choices.number(in: 1...3), clock.now.offset + choices.duration(.seconds(20)...(.seconds(300))))
        : nil
    )
  }

  /// Whether any source of the world is capricious.
  var areAny: Bool {
    volatileField != nil || !hazards.isDisjoint(with: [.cappedLists, .lyingTotals, .reorderedTies])
  }

  /// Lifts the cap.
  func calmDown() { cap.withLock { $0 = nil } }

  /// The answer to the request for a page beyond the cap; `nil` for one within it.
  func refusal(after depth: Int) throws(SyncError) -> RecordPage? {
    guard let cap = cap.withLock({ $0 }), depth >= cap.pages, clock.now.offset < cap.end else { return nil }
    ledger.saw(.listCapped)
    // After a while, a source begins anew: the token may be what the remote no longer knows.
    if choices.once(in: 3) {
      return RecordPage(coverage: .delta, changes: [], next: .reset(.pageTokenExpired))
    }
    throw SyncError(
      .inconsistentData, during: "a page", "The remote refuses the page after \(Counted(depth, "page")).")
  }

  /// The number of records that the remote states with the first page of a pass.
  func total(of page: RecordPage) -> Int? {
    guard hazards.contains(.lyingTotals), choices.below(2) == 1 else { return page.total }
    let total = choices.pick(
      page.changes.count, 0, page.changes.count + 1, 1_000_000, Int.max, -1, (page.total ?? 0) + 1)
    if total != page.total { ledger.saw(.totalFalse) }
    return total
  }

  /// The changes of a page with those of one time in another order, some of the page before among them.
  ///
  /// - Parameter tie: The last changes of the page before, as far as they are current.
  func reordered(_ changes: [RecordChange], after tie: [RecordChange]) -> [RecordChange] {
    guard hazards.contains(.reorderedTies) else { return changes }
    let again = tie.filter { _ in choices.below(2) == 1 }
    if !again.isEmpty { ledger.saw(.tieRepeated) }
    var ordered: [RecordChange] = []
    var rest = (again + changes)[...]
    while let first = rest.first {
      let group = rest.prefix { $0.modifiedAt == first.modifiedAt }
      rest = rest.dropFirst(group.count)
      ordered += shuffled(Array(group))
    }
    return ordered
  }

  private func shuffled(_ group: [RecordChange]) -> [RecordChange] {
    var group = group
    for last in group.indices.dropFirst().reversed() { group.swapAt(last, last - choices.below(last + 1)) }
    if group.count > 1 { ledger.saw(.tiesReordered) }
    return group
  }

  /// A change with another value of the member that differs in each answer.
  func varied(_ change: RecordChange) -> RecordChange {
    guard let volatileField, case .upsert(var record) = change, var fields = try? FieldMap(record.payload)
    else {
      return change
    }
    ledger.saw(.memberVaried)
    let number = copies.withLock { copies in
      copies += 1
      return copies
    }
    fields[volatileField] = Array("\(number)".utf8)[...]
    record.payload = fields.payload
    return .upsert(record)
  }

  /// Notes that the remote has stored another form than it answers.
  func noteNormalised() { ledger.saw(.normalised) }

  /// A change without the member that differs in each answer.
  func plain(_ change: OutgoingChange) -> OutgoingChange {
    guard let volatileField, case .upsert(let payload, let schemaVersion) = change.content else {
      return change
    }
    var change = change
    change.content = .upsert(payload.without(volatileField), schemaVersion: schemaVersion)
    return change
  }
}

extension RecordChange {
  /// When the remote made the change; `nil` for bytes without a time.
  var modifiedAt: Timestamp? {
    switch self {
    case .upsert(let record): record.version.modifiedAt
    case .tombstone(let tombstone): tombstone.version.modifiedAt
    case .malformed: nil
    }
  }
}

extension Payload {
  /// The payload without a member.
  func without(_ field: FieldName) -> Payload {
    guard var fields = try? FieldMap(self), fields[field] != nil else { return self }
    fields[field] = nil
    return fields.payload
  }
}
