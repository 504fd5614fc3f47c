#if CloudKit
  import SyncModels
  import SyncPorts

  /// The pages of a pass over a type of the public database.
  struct QueryPass {
    let source: CloudKitSource
    let reader: CloudKitRecordReader

    func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
      var place: QueryPlace
      var token: QueryToken?
      switch request.position {
      case .start(nil): place = QueryPlace(coverage: .everything, from: 0)
      case .start(let since?):
        guard let known = QueryToken(since) else { return CloudKitSource.reset(.tokenExpired) }
        token = known
        let isDue = reader.type.isSweepDue(since: known.swept, at: source.service.clock.timestamp)
        place = QueryPlace(coverage: isDue ? .everything : .changes, from: known.since)
        place.keysFollow = isDue
      case .resume(let next):
        guard let known = QueryPlace(next) else { return CloudKitSource.reset(.pageTokenExpired) }
        place = known
      }
      let listing = QueryListing(service: source.service, reader: reader)
      let limit = max(1, min(request.limit, CloudKitService.largestPage))
      guard let portion = try await listing.portion(at: place, limit: limit) else {
        return CloudKitSource.reset(.pageTokenExpired)
      }
      var page = RecordPage(coverage: place.coverage, changes: [], next: .done(nil))
      try await source.add(
        portion.records, of: portion.list, areKeysAlone: place.isKeysAlone, to: &page, reader,
        at: portion.sentAt, during: "fetching a page of \(reader.entity.type)")
      if let next = portion.next {
        page.next = .more(next.pageToken, resumable: next.marker == nil)
      } else if place.keysFollow {
        var keys = QueryPlace(coverage: place.coverage, from: 0)
        keys.isKeysAlone = true
        page.next = .more(keys.pageToken, resumable: true)
      }
      if case .start = request.position {
        let now = portion.sentAt.microseconds / 1000
        page.startToken =
          QueryToken(
            since: max(0, (portion.sentAt - reader.type.overlap).microseconds / 1000),
            swept: place.coverage == .everything ? max(0, now) : token?.swept ?? 0
          ).syncToken
      }
      return page
    }
  }
#endif
