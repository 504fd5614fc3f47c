public import SyncModels

/// A damaged store, read entry by entry as far as it can be read.
///
/// For implementers: skip what cannot be read, list it as a loss, and go on behind it. A call ends
/// whatever the store says, and places ascend, so a walk ends as well. Change nothing. A salvage
/// asks for the places of a part in the order in which they come, and begins a part anew after an
/// error.
public protocol SalvageSource: Sendable {
  /// Returns the next entries of a part.
  ///
  /// - Parameters:
  ///   - part: The part of the store.
  ///   - place: The place of the previous portion; `nil` for the first one.
  /// - Throws: `storeUnreadable` if nothing of the store can be read, `storeBusy` or `cancelled`.
  func portion(of part: SalvagePart, after place: SalvagePlace?) async throws(SyncError) -> SalvagePortion
}

/// A part of a store that is salvaged by itself.
public enum SalvagePart: Hashable, Sendable {
  /// The declarations of the types.
  case declarations
  /// The local edits that the remote has not acknowledged, of all types.
  case outbox
  /// The log of conflicts, the oldest first.
  case conflicts
  /// The values that are kept under keys.
  case values
  /// The live records of one type.
  case records(Entity)
}

/// A place in a part of a damaged store, which only its source understands.
public enum SalvagePlace: Hashable, Sendable {
  /// Behind a numbered row.
  case row(Int64)
  /// Behind a key of a type.
  case key(RecordType, String)
  /// Behind a stamp of a type.
  case stamp(RecordType, EditStamp)
}

/// One entry that was read from a damaged store.
public enum SalvagedEntry: Hashable, Sendable {
  /// The declaration of a type.
  case declaration(Entity)
  /// A local edit.
  case edit(OutboxEntry)
  /// A conflict.
  case conflict(Conflict)
  /// A kept value.
  case value(key: String, bytes: [UInt8])
  /// A live record. Only its id, payload and schema version are used.
  case record(Record)
}

/// Some entries of a damaged store, and what could not be read between them.
public struct SalvagePortion: Sendable {
  /// The entries that were read.
  public var entries: [SalvagedEntry]
  /// What could not be read.
  public var losses: [SalvageLoss]
  /// The place for the next call; `nil` after the last portion.
  public var next: SalvagePlace?

  /// Creates a portion.
  public init(_ entries: [SalvagedEntry] = [], losses: [SalvageLoss] = [], next: SalvagePlace? = nil) {
    self.entries = entries
    self.losses = losses
    self.next = next
  }
}

/// Something of a store that could not be taken over.
public struct SalvageLoss: Hashable, Sendable {
  /// The part that it belongs to.
  public var part: Part
  /// The record type; `nil` if it is unknown.
  public var type: RecordType?
  /// The key of the record or value, or another place, if known.
  public var key: String?
  /// What was lost and why, for a person; without record contents.
  public var detail: String

  /// Creates a loss.
  public init(_ part: Part, type: RecordType? = nil, key: String? = nil, _ detail: String) {
    self.part = part
    self.type = type
    self.key = key
    self.detail = detail
  }

  /// A part of a store, by name.
  public enum Part: String, Hashable, Sendable, CaseIterable {
    /// Declarations of types.
    case declarations
    /// Local edits.
    case outbox
    /// The log of conflicts.
    case conflicts
    /// Kept values.
    case values
    /// Records.
    case records
  }
}
