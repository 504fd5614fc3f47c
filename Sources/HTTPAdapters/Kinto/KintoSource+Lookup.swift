public import SyncModels

extension KintoSource {
  /// The number of records in one request, so that every proxy accepts the address.
  private static let lookupSize = 40

  /// Returns the current copies of those records that exist.
  ///
  /// - Throws: The errors of ``page(_:)``.
  public func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    let collection = try server.collection(entity.type)
    var changes: [RecordChange] = []
    let listable = ids.filter { KintoCollection.canBeListed($0.key) }
    var rest = listable[...]
    while !rest.isEmpty {
      let keys = rest.prefix(Self.lookupSize).map(\.key)
      rest = rest.dropFirst(keys.count)
      var query = KintoCollection.query(forKeys: keys)
      // A server may return fewer records than requested.
      for _ in keys {
        let response = try await server.session.send(
          "GET", collection.list(query: query, limit: Self.lookupSize), during: collection.operation)
        if isMissing(collection, response) { return [] }
        let answer = try KintoAnswer(response, of: collection)
        changes += try KintoListing(answer.body, of: entity, collection, after: nil).changes
        guard let next = answer.nextPage else { break }
        query = try collection.query(ofNextPage: next)
      }
    }
    for id in ids where !KintoCollection.canBeListed(id.key) {
      let response = try await server.session.send(
        "GET", collection.record(id.key), during: collection.operation)
      if isMissing(collection, response) { return [] }
      if KintoAnswer.saysNoRecord(response) { continue }
      let answer = try KintoAnswer(response, of: collection)
      changes += try KintoListing(record: answer.body, of: entity, collection).changes
    }
    let wanted = Set(ids)
    return changes.filter { $0.id.map(wanted.contains) == true }
  }
}
