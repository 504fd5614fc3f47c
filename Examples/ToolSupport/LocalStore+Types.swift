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
}
