public import SyncModels

extension SyncEngine {
  /// The filters by type. Of a type without one, all records are kept.
  public var filters: [RecordType: Condition] { environment.filters.conditions }

  /// Keeps of a type only the remote's records that satisfy a condition, from the next sync on.
  ///
  /// ```swift
  /// try engine.setFilter(.equal("team", .string(favourite)), for: "games")
  /// _ = try await engine.sync()
  /// ```
  ///
  /// The next sync lists the type completely. It fetches what the former filter left out. It removes what the
  /// new one leaves out, without the guard of ``SyncOptions/massDeletionShare``: it was asked for. Afterwards, a
  /// record that changes so that the filter leaves it out is removed like a deleted one. A record with a
  /// pending edit stays until the edit has arrived and the remote lists the record again.
  ///
  /// Filters work with any source, on all that it lists. What a remote should not even send is the business of
  /// the source and of its ``RemoteRecordSource/query(for:)``. Filter the types that refer to the type as well:
  /// a record stays while others refer to it, and a record that refers to one left out is parked.
  ///
  /// Filters are not stored. An app sets them at each launch, before its first sync. A sync that is under way
  /// ends with the filters with which it began.
  ///
  /// - Parameters:
  ///   - condition: The condition; `nil` for all records.
  ///   - type: The type.
  /// - Throws: `invalidConfiguration` for a type that is not declared, and for a condition with a comparison
  ///   that has no sound result.
  public func setFilter(_ condition: Condition?, for type: RecordType) throws(SyncError) {
    _ = try schema.entity(type, during: "filtering \(type)")
    if let flaw = condition?.flaw {
      throw SyncError(.invalidConfiguration, during: "filtering \(type)", flaw)
    }
    environment.filters.set(condition, for: type)
  }
}
