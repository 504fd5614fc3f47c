import SyncModels

/// A page to commit, with the checkpoint that its transaction saves.
struct PageCommit: Hashable {
  var page: RecordPage
  /// The pass that the page belongs to.
  var pass: Checkpoint.Pass
  /// The checkpoint as of this page.
  var checkpoint: Checkpoint
  /// Whether a complete listing begins with this page.
  var clearsMarks: Bool
  /// Whether the pass is complete with this page.
  var isLast: Bool
  /// The checkpoint while the absences of a whole type's listing are being confirmed.
  ///
  /// If the confirmation is cut short, the last page is fetched again. `nil` for all other pages.
  var unpublished: Checkpoint?
  /// The approximate size of the page in memory, in bytes.
  let size: Int

  init(
    page: RecordPage, pass: Checkpoint.Pass, checkpoint: Checkpoint, clearsMarks: Bool, isLast: Bool,
    unpublished: Checkpoint? = nil
  ) {
    self.page = page
    self.pass = pass
    self.checkpoint = checkpoint
    self.clearsMarks = clearsMarks
    self.isLast = isLast
    self.unpublished = unpublished
    size = page.changes.reduce(0) { $0 + $1.size }
  }

  /// The complete listing whose records are marked; `nil` without one.
  ///
  /// It is under way, or waits for its sweep.
  var markPass: Int64? {
    pass.coverage == .everything ? pass.number : checkpoint.sweep?.pass
  }
}

extension RecordPage {
  /// Returns the page with the remote's epoch in its versions. Most remotes have only the first.
  func stamped(epoch: Int64) -> RecordPage {
    guard epoch != 0 else { return self }
    var page = self
    page.changes = changes.map { $0.stamped(epoch: epoch) }
    return page
  }
}

extension RecordChange {
  /// The approximate size of the change in memory, in bytes.
  ///
  /// A record's fields take about as much again as its payload.
  fileprivate var size: Int {
    switch self {
    case .upsert: 256 + 2 * payloadSize
    case .tombstone, .malformed: 256 + payloadSize
    }
  }

  /// The number of bytes that the remote sent for the record.
  var payloadSize: Int {
    switch self {
    case .upsert(let record): record.payload.bytes.count
    case .tombstone: 0
    case .malformed(let malformed): malformed.bytes.bytes.count
    }
  }

  /// Returns the change with the remote's epoch in its version.
  func stamped(epoch: Int64) -> RecordChange {
    switch self {
    case .upsert(var record):
      record.version.epoch = epoch
      return .upsert(record)
    case .tombstone(var tombstone):
      tombstone.version.epoch = epoch
      return .tombstone(tombstone)
    case .malformed:
      return self
    }
  }
}
