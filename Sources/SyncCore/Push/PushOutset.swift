import SyncModels
import SyncPorts

/// Reads a portion of the outbox, after settling its edits with known remote states.
///
/// Edits that were postponed by a clock that was ahead become due. An edit on a copy of another
/// remote loses that base. An edit whose record has a parked copy from the remote is settled by
/// that copy. Edits that cannot be settled yet are not sent.
struct PushOutset: Sendable {
  var portion: PushPortion
  var entity: Entity
  var schema: SyncSchema
  var edits: EditOptions
  var source: SourceCapabilities
  var fence: Int64
  var now: Timestamp

  /// Returns the portion, and the tally of the settlements; `nil` without any.
  func load(in transaction: any StoreTransaction) throws(SyncError) -> (LoadedPortion, Tally?) {
    var entries = try entries(in: transaction)
    if try SourceExchange.forgetBases(of: entries, entity, in: transaction) {
      entries = try self.entries(in: transaction)
    }
    if try Postponement.makeDue(entries, of: portion.type, at: now, in: transaction) {
      entries = try self.entries(in: transaction)
    }
    var tally: Tally?
    var waiting = try copies(under: entries, in: transaction)
    if waiting.contains(where: \.meetsEdits) {
      tally = try settle(by: waiting.filter(\.meetsEdits), in: transaction)
      entries = try self.entries(in: transaction)
      waiting = try copies(under: entries, in: transaction)
    }
    let blocked = Set(waiting.compactMap(\.change.id))
    return (
      try portion.candidates(
        among: entries, blocked: blocked, entity, in: schema, at: now, from: transaction),
      tally
    )
  }

  private func entries(in transaction: any StoreTransaction) throws(SyncError) -> [OutboxEntry] {
    try transaction.portion(outbox: portion.type, after: portion.after, limit: portion.limit)
  }

  /// Returns the withheld changes that are newer than the bases of the entries' edits.
  private func copies(
    under entries: [OutboxEntry], in transaction: any StoreTransaction
  ) throws(SyncError) -> [WithheldChange] {
    let counts = try transaction.withheldCounts(portion.type)
    guard WithheldChange.Kind.blocking.contains(where: { counts[$0, default: 0] > 0 }) else { return [] }
    let keys = entries.filter { $0.isDue(at: now) && portion.stage.includes($0) }
      .map { WithheldChange.Key.record($0.id) }
    guard !keys.isEmpty else { return [] }
    let copies = try transaction.withheld(for: keys).filter { WithheldChange.Kind.blocking.contains($0.kind) }
    return try SourceExchange.own(copies, of: portion.type, in: transaction)
  }

  private func settle(
    by copies: [WithheldChange], in transaction: any StoreTransaction
  ) throws(SyncError) -> Tally {
    let checkpoint = try transaction.checkpoint(for: portion.type)
    let context = MergeContext(
      schema: schema, edits: edits, finder: .sync(fence: fence), now: now, source: source,
      lastPass: checkpoint?.lastPass ?? 0, markPass: checkpoint?.markPass)
    var merge = PageMerge(entity, context: context)
    try merge.release(copies, in: transaction)
    try ArrivedDuplicates.note(merge.tally.changed, of: schema, in: transaction)
    return merge.tally
  }
}

extension WithheldChange.Kind {
  /// The kinds of withheld copies that block the edits of their records.
  static let blocking: Set<WithheldChange.Kind> = [.parked, .held, .incompatible]
}

extension WithheldChange {
  /// Whether edits can be settled by the change now, with the app's schema version.
  fileprivate var meetsEdits: Bool { kind == .parked || kind == .held }
}
