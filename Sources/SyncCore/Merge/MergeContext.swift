import SyncModels
import SyncPorts

/// What a merge needs besides the changes: the pass, the sync, and options.
///
/// It also creates the entries of withheld changes.
struct MergeContext {
  /// The number of records in a portion whose size no page limits.
  static let portion = 400

  var schema: SyncSchema
  /// The options for resolving conflicts.
  var edits: EditOptions
  /// What the merged changes come with.
  var finder: WithheldChange.Finder
  var now: Timestamp
  /// Whether a listing of the pass's type shows one instant.
  var isSnapshot: Bool
  /// Records whose copies on the page are the store's own, perhaps of before the last commits.
  var ownCopies: Set<RecordID> = []
  /// The number of the pass, and what it lists.
  var pass: Int64
  var coverage: RecordPage.Coverage
  /// The complete listing whose records are marked; `nil` without one.
  ///
  /// It is under way, or waits for its sweep.
  var markPass: Int64?
  /// Whether changes wait for the publication of the whole type.
  var stages: Bool
  /// What refused edits need, of what the remote tells; mostly nothing.
  var needed: NeededValues?
  /// Records that appear together or are deleted together.
  ///
  /// References between them do not delay any of them.
  var together: Set<RecordID> = []

  /// Creates the context of a page's merge.
  init(
    schema: SyncSchema, edits: EditOptions, finder: WithheldChange.Finder, now: Timestamp,
    listing: SourceCapabilities.Listing, pass: Checkpoint.Pass, markPass: Int64?, stages: Bool
  ) {
    self.schema = schema
    self.edits = edits
    self.finder = finder
    self.now = now
    self.isSnapshot = listing == .snapshot
    self.pass = pass.number
    self.coverage = pass.coverage
    self.markPass = markPass
    self.stages = stages
  }

  /// Creates the context of a merge without a page.
  ///
  /// - Parameter lastPass: The number of the pass that changes which are withheld now belong to.
  init(
    schema: SyncSchema, edits: EditOptions, finder: WithheldChange.Finder, now: Timestamp,
    lastPass: Int64 = 0, markPass: Int64?
  ) {
    self.init(
      schema: schema, edits: edits, finder: finder, now: now, listing: .moving,
      pass: Checkpoint.Pass(number: lastPass, base: nil, coverage: .delta), markPass: markPass,
      stages: false)
  }

  /// Returns the context for merging withheld changes in the same sync.
  ///
  /// They were listed by the passes that their entries name, and are no news of the remote.
  func forRelease(markPass: Int64?) -> MergeContext {
    var context = self
    context.needed = nil
    context.stages = false
    context.coverage = .delta
    context.markPass = markPass
    return context
  }

  /// Whether the pass lists everything as of one instant.
  var listsOneInstant: Bool { isSnapshot && coverage == .full }

  /// Whether the marking listing holds a change of some origin.
  ///
  /// The change is on its page, or the listing had to withhold it.
  func isListed(_ origin: Incoming.Origin) -> Bool {
    guard let markPass else { return false }
    guard case .withheld(let entry) = origin else { return true }
    return entry.pass >= markPass
  }

  /// Returns an entry that the pass lists as well, and that stays.
  func relisted(_ entry: WithheldChange) -> WithheldChange {
    var entry = entry
    entry.pass = max(entry.pass, pass)
    return entry
  }

  /// Returns a hidden record's entry if the remote lists the copy again unchanged.
  ///
  /// The record stays hidden. A copy of the same version is unchanged too: some remotes write a member
  /// anew for each answer.
  func restated(_ entry: WithheldChange, by change: RecordChange) -> WithheldChange? {
    guard entry.kind == .hidden, case .upsert(let record) = change, case .upsert(var hidden) = entry.change,
      hidden.payload == record.payload || isSameVersion(record, hidden)
    else { return nil }
    var entry = relisted(entry)
    if hidden.payload != record.payload {
      if !ownCopies.contains(record.id) { entry.change = .upsert(record) }
    } else if hidden.version < record.version {
      (hidden.version, hidden.entityTag) = (record.version, record.entityTag)
      entry.change = .upsert(hidden)
    }
    return entry
  }

  private func isSameVersion(_ a: Record, _ b: Record) -> Bool {
    guard let order = schema[a.id.type]?.remote.versions else { return false }
    return a.schemaVersion == b.schemaVersion && ReplicationRule(order: order).areOfOneState(a, b)
  }

  /// How a change stands to what is withheld under its record.
  enum Standing { case older, beside, newer }

  /// Compares a change of the page with a withheld one.
  func standing(of change: RecordChange, against entry: WithheldChange) -> Standing {
    let rule = ReplicationRule(order: schema[entry.key.type]?.remote.versions ?? .perChange)
    switch (change, entry.kind) {
    case (.malformed, .missing): return .newer
    // Malformed bytes have no version, so they are kept beside the waiting change.
    // Only a listing of one instant may hold two malformed records with one id.
    case (.malformed, .quarantined):
      return listsOneInstant && entry.pass == pass && entry.change != change ? .beside : .newer
    case (.malformed, _): return .beside
    case (_, .missing): return .newer
    // A listing of one instant may hold an id twice: the valid copy does not repair the malformed
    // one.
    case (_, .quarantined): return listsOneInstant && entry.pass == pass ? .beside : .newer
    case (.upsert(let record), _) where isOwn(record, over: entry): return .older
    case (.upsert(let record), _): return rule.isOlder(record.version, than: entry) ? .older : .newer
    case (.tombstone(let tombstone), _): return rule.isOlder(tombstone.version, than: entry) ? .older : .newer
    }
  }

  /// Whether a copy of the page is the store's own, and a page since has brought other bytes.
  private func isOwn(_ record: Record, over entry: WithheldChange) -> Bool {
    guard ownCopies.contains(record.id), case .upsert(let copy) = entry.change else { return false }
    return copy.version == record.version && copy.payload != record.payload
  }

  /// Whether a copy of the page restates, or is older than, the withheld change.
  func passesOver(_ copy: Record, for entry: WithheldChange) -> Bool {
    restated(entry, by: .upsert(copy)) != nil || standing(of: .upsert(copy), against: entry) == .older
  }

  /// Returns the indexes of a type's ordered references among its fields.
  func referenceColumns(of entity: Entity) -> [(index: Int, target: RecordType)] {
    entity.references.compactMap { reference in
      guard reference.isOrdered, let index = entity.fields.firstIndex(of: reference.field) else { return nil }
      return (index, reference.target)
    }
  }
}
