#if CloudKit
  import HTTPAdapters
  import SyncJSON
  import SyncModels
  import SyncPorts

  /// Where a delta of a zone starts, and when all keys were last listed.
  struct ZoneToken {
    /// The service's token.
    var token: String
    /// When all keys were last listed, in milliseconds by the service's clock.
    var swept: Int64

    init(token: String, swept: Int64) { (self.token, self.swept) = (token, swept) }

    /// Parses a token; `nil` for another source's.
    init?(_ token: SyncToken) {
      guard let fields = TokenFields(token.rawValue, named: "ckz1"),
        let swept = fields[milliseconds: "swept"],
        let own = fields["token"], !own.isEmpty
      else { return nil }
      self.init(token: own, swept: swept)
    }

    var syncToken: SyncToken {
      var fields = TokenFields(named: "ckz1")
      (fields["token"], fields[milliseconds: "swept"]) = (token, swept)
      return SyncToken(fields.text)
    }
  }

  /// A place in the changes of a zone.
  struct ZonePlace {
    /// What the whole pass lists.
    var coverage: RecordPage.Coverage
    /// Whether a listing of all keys follows the changes.
    var keysFollow = false
    /// When all keys were last listed.
    var swept: Int64 = 0
    /// The service's token for the next page; `nil` for the zone's beginning.
    var token: String?
    /// The token after the changes, while the keys are listed.
    var end: String?

    init(coverage: RecordPage.Coverage, token: String? = nil) {
      (self.coverage, self.token) = (coverage, token)
    }

    /// Parses a token; `nil` for another source's.
    init?(_ page: PageToken) {
      guard let fields = TokenFields(page.rawValue, named: "ckz1page"),
        let coverage = fields["coverage"].flatMap(RecordPage.Coverage.init),
        let swept = fields[milliseconds: "swept"]
      else { return nil }
      self.init(coverage: coverage, token: fields["token"])
      (keysFollow, self.swept, end) = (fields[mark: "keysFollow"], swept, fields["end"])
    }

    var pageToken: PageToken {
      var fields = TokenFields(named: "ckz1page")
      fields["coverage"] = coverage.rawValue
      (fields["token"], fields["end"]) = (token, end)
      (fields[mark: "keysFollow"], fields[milliseconds: "swept"]) = (keysFollow, swept)
      return PageToken(fields.text)
    }
  }

  /// The pages of a pass over a type of one zone.
  struct ZonePass {
    let source: CloudKitSource
    let reader: CloudKitRecordReader

    func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
      var place: ZonePlace
      switch request.position {
      case .start(nil): place = ZonePlace(coverage: .full)
      case .start(let since?):
        guard let known = ZoneToken(since) else { return .reset(.tokenExpired) }
        let isDue = reader.type.isSweepDue(since: known.swept, at: source.service.clock.timestamp)
        place = ZonePlace(coverage: isDue ? .full : .delta, token: known.token)
        (place.keysFollow, place.swept) = (isDue, known.swept)
      case .resume(let next):
        guard let known = ZonePlace(next) else { return .reset(.pageTokenExpired) }
        place = known
      }
      let limit = max(1, min(request.limit, CloudKitService.largestPage))
      let reply = try await source.service.post(
        "changes/zone", body(place, limit), recordType: reader.type.recordType, during: task)
      let now = reply.sentAt ?? source.service.clock.timestamp
      let feed: ZoneFeed
      if let failure = reply.failure {
        return try meaning(of: failure, reply, at: place)
      } else {
        feed = try ZoneFeed(reply.body[...], during: task)
      }
      if let failure = feed.failure {
        source.service.heed(failure)
        return try meaning(of: failure, reply, at: place)
      }
      source.service.heed(feed.list)
      return try await page(feed, at: place, now)
    }

    private func page(
      _ feed: ZoneFeed, at place: ZonePlace, _ now: Timestamp
    ) async throws(SyncError) -> RecordPage {
      guard let token = feed.token else {
        throw SyncError(.invalidResponse, during: task, "CloudKit's answer has no sync token.")
      }
      var page = RecordPage(coverage: place.coverage, changes: [], next: .done(nil))
      try await source.add(
        feed.list.records, of: feed.list, areKeysAlone: place.end != nil, to: &page, reader, at: now,
        during: task)
      var next = place
      next.token = token
      if feed.moreComing {
        // The same token without records is found by the engine, which asks twice.
        page.next = .more(next.pageToken, resumable: true)
      } else if place.keysFollow {
        (next.keysFollow, next.token, next.end) = (false, nil, token)
        page.next = .more(next.pageToken, resumable: true)
      } else {
        let swept = place.coverage == .full ? max(0, now.microseconds / 1000) : place.swept
        page.next = .done(ZoneToken(token: place.end ?? token, swept: swept).syncToken)
      }
      return page
    }

    /// The meaning of a refusal for the pass.
    private func meaning(
      of failure: ServiceFailure, _ reply: CloudKitService.Reply, at place: ZonePlace
    ) throws(SyncError) -> RecordPage {
      if place.token != nil || place.end != nil {
        // A zone that was deleted ends old tokens too. The full listing tells whether it is there.
        if failure.code.contains("ZONE") { return .reset(.remoteReplaced) }
        if failure.voidsToken || (failure.code == "BAD_REQUEST" && !failure.isTransient) {
          return .reset(place.end == nil ? .tokenExpired : .pageTokenExpired)
        }
      }
      if failure.code.contains("ZONE"), let zone = source.service.database.zone {
        throw SyncError(
          .invalidConfiguration, during: task,
          "CloudKit has no zone \(zone): it was never made, or was deleted, perhaps by the user. An app has to make it again; local records stay, and can be sent again (sendAgain).",
          underlying: failure)
      }
      throw source.service.error(failure, reply, recordType: reader.type.recordType, during: task)
    }

    private func body(_ place: ZonePlace, _ limit: Int) -> [UInt8] {
      var zone = ObjectWriter()
      zone.add("zoneID", source.service.database.zoneID.bytes[...])
      if let token = place.token { zone.add("syncToken", text: token) }
      zone.add("resultsLimit", Array("\(limit)".utf8)[...])
      if place.end != nil { zone.add("desiredKeys", reader.type.sweptKeys[...]) }
      zone.add(
        "desiredRecordTypes",
        (Array("[".utf8) + JSONString.quoted(reader.type.recordType) + Array("]".utf8))[...])
      var body = ObjectWriter()
      body.add("zones", SplitReference.array([zone.bytes])[...])
      return body.bytes
    }

    private var task: String { "fetching a page of \(reader.entity.type)" }
  }

  /// The part of an answer that concerns the one zone of the request.
  private struct ZoneFeed {
    var list: RecordList
    var token: String?
    var moreComing = false
    var failure: ServiceFailure?

    init(_ body: ArraySlice<UInt8>, during task: String) throws(SyncError) {
      var zone: ArraySlice<UInt8>?
      var (token, moreComing) = (String?.none, false)
      do {
        try JSONScanner.members(of: body, depthLimit: .max) { member throws(JSONError) in
          guard member.hasKey(Array("zones".utf8)), member.value.kind == .array else { return }
          try JSONScanner.elements(of: member.value.bytes, depthLimit: .max) { element throws(JSONError) in
            if zone == nil, element.kind == .object { zone = element.bytes }
          }
        }
        if let zone {
          try JSONScanner.members(of: zone, depthLimit: .max) { member throws(JSONError) in
            if member.hasKey(Array("syncToken".utf8)) { token = member.value.string() }
            if member.hasKey(Array("moreComing".utf8)) { moreComing = member.value.bool() == true }
          }
        }
      } catch {
        throw SyncError(
          .invalidResponse, during: task, "CloudKit's answer \(error.description).", underlying: error)
      }
      guard let zone else {
        throw SyncError(.invalidResponse, during: task, "CloudKit's answer is about no zone.")
      }
      failure = ServiceFailure(zone)
      list = failure == nil ? try RecordList(zone, during: task) : RecordList()
      (self.token, self.moreComing) = (token, moreComing)
    }
  }
#endif
