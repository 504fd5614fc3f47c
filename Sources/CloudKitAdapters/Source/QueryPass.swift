#if CloudKit
  import HTTPAdapters
  import SyncJSON
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
      case .start(nil): place = QueryPlace(coverage: .full, from: 0)
      case .start(let since?):
        guard let known = QueryToken(since) else { return .reset(.tokenExpired) }
        token = known
        let isDue = reader.type.isSweepDue(since: known.swept, at: source.service.clock.timestamp)
        place = QueryPlace(coverage: isDue ? .full : .delta, from: known.since)
        place.keysFollow = isDue
      case .resume(let next):
        guard let known = QueryPlace(next) else { return .reset(.pageTokenExpired) }
        place = known
      }
      let listing = QueryListing(service: source.service, reader: reader)
      let limit = max(1, min(request.limit, CloudKitService.largestPage))
      guard let portion = try await listing.portion(at: place, limit: limit) else {
        return .reset(.pageTokenExpired)
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
            swept: place.coverage == .full ? max(0, now) : token?.swept ?? 0
          ).syncToken
      }
      return page
    }
  }

  /// Lists the records of one type by ascending modification time.
  ///
  /// The place of the next page is a time, not the service's marker: what a marker remembers when
  /// records move is nowhere documented. A page therefore leaves out the records of its last time,
  /// and the next one starts with them. Two cases need a marker: more records of one time than an
  /// answer holds, and the records of the last moments, which an index may still list by their
  /// old times. The next delta lists the latter again.
  struct QueryListing {
    let service: CloudKitService
    let reader: CloudKitRecordReader

    /// Some records, and what follows them.
    struct Portion {
      var list: RecordList
      var records: [RecordDictionary]
      /// `nil` at the end.
      var next: QueryPlace?
      /// The service's time before the request.
      var sentAt: Timestamp
    }

    /// The most empty answers in a row, each with another marker.
    private static let patience = 100
    /// The most requests for all records of one time in one answer.
    private static let attempts = 5

    /// Lists the records at a place.
    ///
    /// - Throws: The errors of ``CloudKitSource/page(_:)``.
    /// - Returns: The records; `nil` if the service no longer knows the place's marker.
    func portion(at start: QueryPlace, limit: Int) async throws(SyncError) -> Portion? {
      var place = start
      // One record more than wanted: those of the last time are left for the next page.
      var size = limit + (start.marker == nil ? 1 : 0)
      var shortAnswers = 0
      for _ in 0..<Self.patience {
        guard let (list, sentAt) = try await ask(place, place.isOneTime && place.marker == nil ? .max : size)
        else {
          return nil
        }
        guard let marker = list.marker else {
          let next = place.isOneTime ? place.moved(to: place.from + 1) : nil
          // Everything is there, and one record too many.
          if next == nil, list.records.count > limit, place.marker == nil, size > limit {
            if let cut = cut(list, place, sentAt) { return cut }
            size = limit
            continue
          }
          return Portion(list: list, records: list.records, next: next, sentAt: sentAt)
        }
        guard marker != place.marker || !list.records.isEmpty else { throw stuck }
        if list.records.isEmpty, list.unreadable.isEmpty {
          place.marker = marker
          continue
        }
        var following = place
        following.marker = marker
        if place.isOneTime {
          // One answer with all of them is safer than a marker.
          if place.marker == nil, list.records.count < CloudKitService.largestPage {
            shortAnswers += 1
            if shortAnswers < Self.attempts { continue }
          }
          return Portion(list: list, records: list.records, next: following, sentAt: sentAt)
        }
        if let cut = cut(list, place, sentAt) { return cut }
        if let time = fullTime(list, place, sentAt) {
          place = place.moved(to: time, isOneTime: true)
        } else if size > limit, list.records.count > limit {
          size = limit
        } else {
          return Portion(list: list, records: list.records, next: following, sentAt: sentAt)
        }
      }
      throw stuck
    }

    /// The records before an answer's last settled time, and that place.
    ///
    /// - Returns: `nil` unless that leads on.
    private func cut(_ list: RecordList, _ place: QueryPlace, _ sentAt: Timestamp) -> Portion? {
      let settled = settled(list, sentAt)
      guard let last = settled.max(), last > place.from, settled.contains(where: { $0 < last }) else {
        return nil
      }
      let border = border(sentAt)
      let records = list.records.filter { record in
        record.modified.map { $0 < last || $0 >= border } ?? true
      }
      return Portion(list: list, records: records, next: place.moved(to: last), sentAt: sentAt)
    }

    /// The one time of all settled records of an answer, if there are such records.
    private func fullTime(_ list: RecordList, _ place: QueryPlace, _ sentAt: Timestamp) -> Int64? {
      settled(list, sentAt).max()
    }

    /// The times whose records an index lists in their places by now.
    private func settled(_ list: RecordList, _ sentAt: Timestamp) -> [Int64] {
      let border = border(sentAt)
      return list.records.compactMap(\.modified).filter { $0 < border }
    }

    /// From this time on, the next delta lists everything again.
    private func border(_ sentAt: Timestamp) -> Int64 {
      (sentAt - reader.type.overlap).microseconds / 1000
    }

    private func ask(
      _ place: QueryPlace, _ limit: Int
    ) async throws(SyncError) -> (list: RecordList, sentAt: Timestamp)? {
      let reply = try await service.post(
        "records/query", body(place, min(limit, CloudKitService.largestPage)),
        recordType: reader.type.recordType, during: task)
      if let failure = reply.failure {
        if place.marker != nil, failure.code == "BAD_REQUEST" { return nil }
        throw service.error(failure, reply, recordType: reader.type.recordType, during: task)
      }
      guard let sentAt = reply.sentAt else {
        throw SyncError(
          .invalidResponse, during: task,
          "CloudKit's answer has no valid Date header, by which the next delta has to start.")
      }
      let list = try RecordList(reply.body[...], during: task)
      service.heed(list)
      return (list, sentAt)
    }

    private func body(_ place: QueryPlace, _ limit: Int) -> [UInt8] {
      let comparator = place.isOneTime ? "EQUALS" : "GREATER_THAN_OR_EQUALS"
      var query = ObjectWriter()
      query.add("recordType", text: reader.type.recordType)
      query.add(
        "filterBy",
        Array(
          #"[{"fieldName":"___modTime","comparator":"\#(comparator)","fieldValue":{"value":\#(place.from),"type":"TIMESTAMP"}}]"#
            .utf8)[...])
      query.add("sortBy", Array(#"[{"fieldName":"___modTime","ascending":true}]"#.utf8)[...])
      var body = ObjectWriter()
      body.add("query", query.bytes[...])
      body.add("resultsLimit", Array("\(limit)".utf8)[...])
      if place.isKeysAlone { body.add("desiredKeys", reader.type.sweptKeys[...]) }
      if let marker = place.marker { body.add("continuationMarker", text: marker) }
      return body.bytes
    }

    private var task: String { "fetching a page of \(reader.entity.type)" }

    private var stuck: SyncError {
      SyncError(
        .inconsistentData, during: task,
        "CloudKit keeps answering with empty pages that lead nowhere, so the listing would never end.")
    }
  }

  extension CloudKitType {
    /// The fields that a listing of keys needs, as a JSON list.
    var sweptKeys: [UInt8] {
      guard let deleted else { return Array("[]".utf8) }
      return Array("[".utf8) + JSONString.quoted(deleted.rawValue) + Array("]".utf8)
    }
  }

  /// Where a delta of the public database starts, and when all keys were last listed.
  struct QueryToken {
    /// The least modification time, in milliseconds.
    var since: Int64
    /// When all keys were last listed, in milliseconds by the service's clock.
    var swept: Int64

    init(since: Int64, swept: Int64) { (self.since, self.swept) = (since, swept) }

    /// Parses a token; `nil` for another source's.
    init?(_ token: SyncToken) {
      guard let fields = TokenFields(token.rawValue, named: "ckq1"),
        let since = fields[milliseconds: "since"], let swept = fields[milliseconds: "swept"]
      else { return nil }
      self.init(since: since, swept: swept)
    }

    var syncToken: SyncToken {
      var fields = TokenFields(named: "ckq1")
      (fields[milliseconds: "since"], fields[milliseconds: "swept"]) = (since, swept)
      return SyncToken(fields.text)
    }
  }

  /// A place in a listing by modification time.
  struct QueryPlace: Equatable {
    /// What the whole pass lists.
    var coverage: RecordPage.Coverage
    /// Whether this part of the pass lists keys alone.
    var isKeysAlone = false
    /// Whether a listing of all keys follows the records.
    var keysFollow = false
    /// The least modification time of the next records.
    var from: Int64
    /// Whether exactly that time is wanted, as its records fill a page.
    var isOneTime = false
    /// The service's marker, where the time alone does not lead on.
    var marker: String?

    init(coverage: RecordPage.Coverage, from: Int64) { (self.coverage, self.from) = (coverage, from) }

    /// Parses a token; `nil` for another source's.
    init?(_ token: PageToken) {
      guard let fields = TokenFields(token.rawValue, named: "ckq1page"),
        let coverage = fields["coverage"].flatMap(RecordPage.Coverage.init),
        let from = fields[milliseconds: "from"]
      else { return nil }
      self.init(coverage: coverage, from: from)
      (isKeysAlone, keysFollow) = (fields[mark: "keys"], fields[mark: "keysFollow"])
      (isOneTime, marker) = (fields[mark: "oneTime"], fields["marker"])
    }

    var pageToken: PageToken {
      var fields = TokenFields(named: "ckq1page")
      fields["coverage"] = coverage.rawValue
      fields[milliseconds: "from"] = from
      (fields[mark: "keys"], fields[mark: "keysFollow"]) = (isKeysAlone, keysFollow)
      (fields[mark: "oneTime"], fields["marker"]) = (isOneTime, marker)
      return PageToken(fields.text)
    }

    /// The place at a later time, for a new query.
    func moved(to time: Int64, isOneTime: Bool = false) -> QueryPlace {
      var place = self
      (place.from, place.isOneTime, place.marker) = (time, isOneTime, nil)
      return place
    }
  }
#endif
