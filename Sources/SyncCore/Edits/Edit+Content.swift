import SyncModels

extension Edit.Content {
  var schemaVersion: Int? {
    if case .upsert(_, let schemaVersion) = self { schemaVersion } else { nil }
  }

  /// Whether a record shows this content already.
  func isShown(by record: Record) -> Bool {
    guard case .upsert(let payload, let schemaVersion) = self else { return false }
    return schemaVersion == record.schemaVersion && payload == record.payload
  }

  /// Returns the content with the values of immutable fields that the record has already.
  func keepingImmutable(_ shown: Record?, _ entity: Entity) -> Edit.Content {
    guard case .upsert(let payload, let schemaVersion) = self else { return self }
    return .upsert(entity.keepingImmutable(payload, shown?.payload), schemaVersion: schemaVersion)
  }

  /// Returns the content with the edit's stamp, if the type declares a field for it.
  func stamped(_ stamp: EditStamp, by entity: Entity) -> Edit.Content {
    guard case .upsert(let payload, let schemaVersion) = self else { return self }
    return .upsert(entity.stamped(payload, stamp), schemaVersion: schemaVersion)
  }
}
