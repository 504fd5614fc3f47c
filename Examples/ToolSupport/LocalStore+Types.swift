package import CanonicalSync

extension LocalStore {
  /// The store's types from a source, with those that the source no longer has.
  package func types(syncedFrom source: String) async throws(SyncError) -> [RecordType] {
    try await read { (snapshot) throws(SyncError) in
      var types: [RecordType] = []
      for type in try snapshot.registeredEntities().map(\.type)
      where try snapshot.checkpoint(for: type)?.scope.source == source { types.append(type) }
      return types
    }
  }

  /// The source that some types were synced from last, if that is another one than a source.
  package func otherSource(
    of types: [RecordType], than source: String
  ) async throws(SyncError) -> String? {
    try await read { (snapshot) throws(SyncError) in
      for type in types {
        if let former = try snapshot.checkpoint(for: type)?.scope.source, former != source { return former }
      }
      return nil
    }
  }
}
