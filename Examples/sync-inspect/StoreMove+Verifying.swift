import CanonicalSync

extension StoreMove {
  /// Compares both stores element by element.
  func verify(_ types: [RecordType], _ lease: Lease) async throws(SyncError) {
    for type in types {
      var last: String?
      while true {
        try await keep(lease)
        let after = last
        let (old, new) = try await both { (snapshot) throws(SyncError) in
          try snapshot.rows(type, .all, after: after, limit: Self.portion)
        }
        guard old == new else { throw difference("rows of \(type)") }
        guard let next = old.last?.id.key else { break }
        last = next
      }
      let (old, new) = try await both { (snapshot) throws(SyncError) in
        try snapshot.withheld(
          type, kinds: Set(WithheldChange.Kind.allCases), after: nil, limit: .max)
      }
      guard old == new else { throw difference("withheld changes of \(type)") }
      let edits = try await both { (snapshot) throws(SyncError) in
        try snapshot.outbox(type, after: nil, limit: .max)
      }
      guard edits.0 == edits.1 else { throw difference("edits of \(type)") }
    }
    let conflicts = try await both { (snapshot) throws(SyncError) in
      try Self.conflicts(in: snapshot).map { conflict in
        var conflict = conflict
        // Each store numbers its own.
        conflict.number = 0
        return conflict
      }
    }
    guard conflicts.0 == conflicts.1 else { throw difference("conflicts") }
    let (old, new) = try await both { (snapshot) throws(SyncError) in try Self.values(in: snapshot) }
    guard old == new else { throw difference("kept values") }
  }

  private func both<Value: Sendable>(
    _ read: @Sendable (any StoreSnapshot) throws(SyncError) -> Value
  ) async throws(SyncError) -> (Value, Value) {
    (try await source.read(read), try await target.read(read))
  }

  private func difference(_ what: String) -> SyncError {
    SyncError(
      .inconsistentData, during: "comparing the stores",
      "The \(what) differ between the old and the new store. The old store is unchanged; `copy --abandon` takes it into use again."
    )
  }
}
