import SyncJSON
import SyncModels

extension OutboxEntry {
  /// Returns the entry with the server-managed fields of a remote state.
  ///
  /// Base, edit and sent edit all take them.
  func taking(_ fields: [FieldName], of remoteState: RemoteState) -> OutboxEntry {
    guard !fields.isEmpty, let theirs = remoteState.payload.flatMap({ try? FieldMap($0) }) else {
      return self
    }
    var entry = self
    if case .copy(var record) = base {
      record.payload = record.payload.taking(fields, of: theirs)
      entry.base = .copy(record)
    }
    entry.edit.content = edit.content.taking(fields, of: theirs)
    if let sent { entry.sent?.content = sent.content.taking(fields, of: theirs) }
    return entry
  }
}

extension Edit.Content {
  fileprivate func taking(_ fields: [FieldName], of other: FieldMap) -> Edit.Content {
    guard case .upsert(let payload, let schemaVersion) = self else { return self }
    return .upsert(payload.taking(fields, of: other), schemaVersion: schemaVersion)
  }
}

extension Payload {
  fileprivate func taking(_ fields: [FieldName], of other: FieldMap) -> Payload {
    guard var map = try? FieldMap(self), fields.contains(where: { !map.hasSameValue(as: other, for: $0) })
    else { return self }
    for field in fields { map[field] = other[field] }
    return map.payload
  }
}
