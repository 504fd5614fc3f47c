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
  /// What the store has of other types, for a source whose lists are under their records.
  package var stored: (any StoredKeys)?

  /// Creates a request.
  public init(entity: Entity, position: PullPosition, limit: Int, pass: Int64) {
    self.entity = entity
    self.position = position
    self.limit = limit
    self.pass = pass
  }
}

extension PageRequest {
  /// Whether two requests ask for the same page.
  public static func == (a: PageRequest, b: PageRequest) -> Bool {
    a.entity == b.entity && a.position == b.position && a.limit == b.limit && a.pass == b.pass
  }

  /// Hashes what is asked for.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(entity)
    hasher.combine(position)
    hasher.combine(limit)
    hasher.combine(pass)
  }
}

/// The live records of a store, as far as a source needs them.
package protocol StoredKeys: Sendable {
  /// Returns the keys of a type after one, in their order.
  func keys(of type: RecordType, after key: String?, limit: Int) async throws(SyncError) -> [String]

  /// Returns the records of a type that refer to a key by a field.
  func records(
    of type: RecordType, where field: FieldName, is key: String
  ) async throws(SyncError) -> [PresentRecord]
}

/// Where a page starts.
public enum PullPosition: Hashable, Sendable {
  /// The beginning of a pass: the changes since the token, or everything without one.
  case start(since: SyncToken?)
  /// The end of the previous page.
  case resume(PageToken)
}
