/// The engine's request to a source: one page of one type.
public struct PageRequest: Hashable, Sendable {
  /// The type, with the fields to extract from the payloads.
  public let entity: Entity
  /// Where the page starts.
  public let position: PullPosition
  /// The most records that the page may hold.
  ///
  /// The source may give fewer. It may give more only if it cannot split them.
  public let limit: Int
  /// The number of the pass that the page belongs to.
  ///
  /// Each later pass over the type has a greater number. A resumed pass keeps its number. A source
  /// that counts its own scans uses the number for ``Version/sequence``.
  public let pass: Int64

  /// Creates a request.
  public init(entity: Entity, position: PullPosition, limit: Int, pass: Int64) {
    self.entity = entity
    self.position = position
    self.limit = limit
    self.pass = pass
  }
}

/// The live records of a store, as far as a source needs them.
package protocol StoredKeys: Sendable {
  /// Returns the first key of a type after one, in the order of the keys.
  func key(of type: RecordType, after key: String?) async throws(SyncError) -> String?

  /// Returns the records of a type that refer to a key by a field.
  func records(
    of type: RecordType, where field: FieldName, is key: String
  ) async throws(SyncError) -> [PresentRecord]

  /// Returns what has changed above the lists of a type since a position of the store.
  ///
  /// - Parameters:
  ///   - parents: The type above the lists.
  ///   - type: The type that is listed.
  ///   - position: An earlier ``ParentChanges/position``; `nil` for none.
  func changes(
    of parents: RecordType, above type: RecordType, after position: Int64?
  ) async throws(SyncError) -> ParentChanges
}

/// The records above lists that have changed since a position of the store.
package struct ParentChanges: Sendable {
  /// Their keys; `nil` if any record may have changed, or a list may have more than is live here.
  package var keys: Set<String>?
  /// Whether a record waits to be removed, and its list with it.
  package var isAnyLeaving: Bool
  /// The store's position now.
  package var position: Int64

  package init(keys: Set<String>?, isAnyLeaving: Bool, position: Int64) {
    (self.keys, self.isAnyLeaving, self.position) = (keys, isAnyLeaving, position)
  }
}

/// The store of the engine that asks for a page, for a source whose lists are under its records.
package enum AskingStore {
  @TaskLocal package static var keys: (any StoredKeys)?
}

/// Where a page starts.
public enum PullPosition: Hashable, Sendable {
  /// The beginning of a pass: the changes since the token, or everything without one.
  case start(since: SyncToken?)
  /// The end of the previous page.
  case resume(PageToken)
}
