public import SyncModels

extension KintoSource {
  /// The names of the bucket's collections that these credentials may see.
  ///
  /// - Throws: The errors of ``page(_:)``.
  public func collections() async throws(SyncError) -> [RecordType] {
    let collections = server.collections
    var names: Set<RecordType> = []
    var query = collections.list(since: nil, limit: KintoServer.largestPage).query ?? ""
    var place: KintoBookmark.Place?
    while true {
      let response = try await server.session.send(
        "GET", collections.list(query: query, limit: KintoServer.largestPage), during: collections.operation)
      let answer = try KintoAnswer(response, of: collections)
      let listing = try KintoListing(
        answer.body, of: Entity(collections.type), collections, after: place)
      for case .upsert(let record) in listing.changes { names.insert(RecordType(record.id.key)) }
      guard let next = answer.nextPage else { break }
      let following = try collections.query(ofNextPage: next)
      guard following != query, !listing.changes.isEmpty else {
        throw SyncError(
          .invalidResponse, during: collections.operation, "The server's next page makes no progress.")
      }
      (query, place) = (following, listing.last)
    }
    return names.sorted { $0.rawValue.utf8.lexicographicallyPrecedes($1.rawValue.utf8) }
  }
}
