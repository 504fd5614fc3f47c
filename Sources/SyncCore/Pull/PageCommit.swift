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

/// The pages of a pass that have arrived and are not in the store yet.
struct CommitQueue {
  /// The pages that are being committed.
  var committing: [PageCommit] = []
  /// The pages to commit together once those are in the store.
  var waiting: [PageCommit] = []

  /// The most bytes of memory for three or more uncommitted pages.
  static let bytesAhead = 4 << 20

  var isEmpty: Bool { committing.isEmpty && waiting.isEmpty }

  /// Whether another page may be fetched.
  ///
  /// - Parameter ahead: The number of pages besides one that may be uncommitted.
  func hasRoom(ahead: Int) -> Bool {
    let pages = committing.count + waiting.count
    guard pages <= ahead else { return false }
    return pages < 2 || (committing + waiting).reduce(0) { $0 + $1.size } < Self.bytesAhead
  }

  /// Returns the pages to commit now; `nil` while others are being committed.
  mutating func commit() -> [PageCommit]? {
    guard committing.isEmpty, !waiting.isEmpty else { return nil }
    swap(&committing, &waiting)
    return committing
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

/// The reason why the pass over one type cannot go on.
enum PullFailure: Hashable {
  /// The remote failed, permanently or past the budget.
  case remote(SyncError)
  /// The remote keeps answering with the same continuation.
  case stuck
  /// The remote keeps starting over.
  case resetsWithoutEnd(ResetReason)

  static func == (a: PullFailure, b: PullFailure) -> Bool {
    switch (a, b) {
    case (.remote(let a), .remote(let b)): a.code == b.code && a.operation == b.operation
    case (.stuck, .stuck): true
    case (.resetsWithoutEnd(let a), .resetsWithoutEnd(let b)): a == b
    default: false
    }
  }

  func hash(into hasher: inout Hasher) {
    switch self {
    case .remote(let error): hasher.combine(error.code)
    case .stuck: hasher.combine(0)
    case .resetsWithoutEnd(let reason): hasher.combine(reason)
    }
  }

  /// Returns the failure as an error for the caller.
  func error(type: RecordType) -> SyncError {
    switch self {
    case .remote(let error): error
    case .stuck:
      SyncError(
        .inconsistentData, during: "pulling \(type)",
        "The remote keeps answering with the same continuation, so the listing would never end.")
    case .resetsWithoutEnd(let reason):
      SyncError(
        .inconsistentData, during: "pulling \(type)",
        "The remote keeps starting its listing over (\(reason.rawValue)); try again when it is quiet.")
    }
  }
}
