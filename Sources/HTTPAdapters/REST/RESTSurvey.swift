import SyncJSON
package import SyncModels
import SyncPorts

/// What a few requests for a type tell about its description.
package struct RESTSurvey: Sendable {
  /// What was found, and what a mirror can promise.
  package private(set) var notes: [String] = []
  /// What is wrong, with the member of the description.
  package private(set) var problems: [String] = []

  mutating func add(_ text: String) { notes.append(text) }
  mutating func complain(_ text: String) { problems.append(text) }
}

extension RESTSource {
  /// Asks for one page of a type, and compares it with the description.
  ///
  /// If they agree, it asks for the page after it, and for what has changed since.
  ///
  /// - Parameter pageSize: The number of records that a sync asks for.
  /// - Throws: What concerns all types, such as `authentication` and `remoteUnavailable`. What
  ///   concerns this type alone is a problem in the result.
  package func survey(_ type: RecordType, pageSize: Int) async throws(SyncError) -> RESTSurvey {
    let requests = try requests(for: type)
    let collection = requests.collection
    let request = PageRequest(
      entity: collection.entity, position: .start(since: nil), limit: pageSize, pass: 1)
    let listing = RESTListing(requests: requests, request, session: session, needsTwoListings: false)
    let stopwatch = session.clock.stopwatch()
    var survey = RESTSurvey()
    var segment = RESTSegment()
    if let under = collection.under {
      segment.parent = try await firstKey(of: under.type, pageSize: pageSize)
      guard let parent = segment.parent else {
        survey.add("No record of \(under.type) is there, under which a list could be.")
        return survey
      }
      survey.add("There is one list for each record of \(under.type). The one under \(parent) is looked at.")
    }
    if let each = collection.each {
      survey.add(
        "There is one list for each of \(Counted(each.values.count, "value")) of \"\(each.parameter)\".")
    }
    let asked = try await listing.ask { [segment] limit in requests.first(nil, limit: limit, in: segment) }
    let elapsed = stopwatch()
    do throws(SyncError) {
      let answer = try RESTAnswer(asked.response, of: collection, during: requests.operation)
      let look = Look(
        answer: answer, collection: collection, requests: requests, address: asked.address,
        limit: asked.limit)
      look.records(&survey)
      look.pages(&survey)
      try look.changes(elapsed: elapsed, &survey)
      look.writes(&survey)
      look.cost(&survey)
      guard survey.problems.isEmpty else { return survey }
      let trial = RESTTrial(listing: listing, first: answer, asked: asked)
      try await trial.secondPage(&survey)
      try await trial.changes(elapsed: elapsed, &survey)
    } catch {
      guard
        [.inconsistentData, .invalidResponse, .invalidConfiguration, .permissionDenied].contains(error.code)
      else { throw error }
      survey.complain(error.message)
    }
    return survey
  }

  /// The key of the first record of a type's first page.
  private func firstKey(of type: RecordType, pageSize: Int) async throws(SyncError) -> String? {
    let requests = try requests(for: type)
    let listing = RESTListing(
      requests: requests,
      PageRequest(
        entity: requests.collection.entity, position: .start(since: nil), limit: pageSize, pass: 1),
      session: session, needsTwoListings: false)
    let asked = try await listing.ask { limit in requests.first(nil, limit: limit) }
    let answer = try RESTAnswer(asked.response, of: requests.collection, during: requests.operation)
    let reader = RESTRecordReader(requests.collection, as: requests.collection.entity)
    return answer.rows.lazy.compactMap { reader.read($0).id?.key }.first
  }
}

/// One page, and its description.
private struct Look {
  let answer: RESTAnswer
  let collection: RESTAPI.Collection
  let requests: RESTRequests
  let address: HTTPAddress
  let limit: Int

  private var isMarked: Bool { collection.deleted != nil }

  func records(_ survey: inout RESTSurvey) {
    let count = answer.rows.count
    survey.add(
      "\(Counted(count, "record")) on the first page, at \(collection.records.text.isEmpty ? "the top" : collection.records.text)."
    )
    guard count > 0 else { return }
    let reader = RESTRecordReader(collection, as: collection.entity)
    var (flaws, first) = (0, "")
    for case .malformed(let malformed) in answer.rows.map(reader.read) {
      if flaws == 0 { first = malformed.reason }
      flaws += 1
    }
    if flaws > 0 {
      survey.complain("\(flaws) of \(Counted(count, "record")) cannot be read; the first of them: \(first).")
    }
    if let version = collection.version { found(version, "version", needed: true, &survey) }
    for reference in collection.entity.references {
      guard let pointer = Self.pointer(reference.field) else { continue }
      found(pointer, "references.\(reference.field)", needed: false, &survey)
    }
    for index in collection.entity.indexes {
      guard let pointer = Self.pointer(index) else { continue }
      found(pointer, "indexes", needed: false, &survey)
    }
  }

  private static func pointer(_ field: FieldName) -> JSONPointer? {
    JSONPointer("/" + field.rawValue.replacing("~", with: "~0").replacing("/", with: "~1"))
  }

  /// Tells in how many records a pointer leads to something.
  private func found(
    _ pointer: JSONPointer, _ member: String, needed: Bool, _ survey: inout RESTSurvey
  ) {
    let missing = answer.rows.count { RESTRecordReader.lacks(pointer, $0) }
    let place = "\(pointer) (\(collection.place(member)))"
    if missing == answer.rows.count {
      survey.complain("\(place) leads to nothing in any of \(Counted(missing, "record")).")
    } else if missing > 0, needed {
      survey.add("\(place) is missing in \(missing) of \(Counted(answer.rows.count, "record")).")
    }
  }

  func pages(_ survey: inout RESTSurvey) {
    let isFull = collection.pageSize != nil && answer.rows.count >= limit
    switch collection.paging {
    case nil:
      survey.add("Everything is listed in one answer.")
      if let total = answer.total, total > answer.rows.count {
        survey.complain(
          "The answer has \(answer.rows.count) of \(total) records, and the description no \"paging\".")
      }
    case .after: survey.add("The last record of a page tells the next page.")
    case .link, .next, .cursor, .cursorHeader:
      let hint = isFull ? " The page is full: is that the right member?" : ""
      guard let next = answer.next else { return survey.add("No further page is named.\(hint)") }
      switch collection.paging {
      case .cursor, .cursorHeader: return survey.add("A cursor names the next page.")
      default: break
      }
      guard let following = address.resolving(next) else {
        return survey.complain("The next page's address is invalid (\(collection.place("paging"))).")
      }
      if following.origin != address.origin, collection.rebasesLinks {
        survey.add("The next page is at \(following.origin), and asked for at \(address.origin).")
      } else if following.origin != address.origin {
        survey.complain(
          "The next page is at \(following.origin), which is another origin (\(collection.place("paging"))).")
      } else if following.counts(from: address, rows: answer.rows.count) {
        survey.add("Links count pages. \(Self.shifting)")
      } else {
        survey.add("A link leads to the next page.")
      }
    case .page, .offset: survey.add("Pages are counted. \(Self.shifting)")
    }
    if let size = collection.pageSize, !answer.rows.isEmpty, answer.rows.count < limit,
      answer.next != nil || (answer.total ?? 0) > answer.rows.count
    {
      survey.add(
        "The API gives \(Counted(answer.rows.count, "record")) where \(limit) are asked for. That may be its most; otherwise, is \"\(size.parameter)\" a parameter?"
      )
    }
    if let size = collection.pageSize, answer.rows.count > limit {
      survey.complain(
        "\(answer.rows.count) records came where \(limit) were asked for; is \"\(size.parameter)\" a parameter (\(collection.place("pageSize")))?"
      )
    }
  }

  private static let shifting =
    "They shift when a record comes or goes meanwhile; the next sync then lists everything again."

  func changes(elapsed: Duration, _ survey: inout RESTSurvey) throws(SyncError) {
    switch collection.delta {
    case .since:
      _ = try answer.serverTime(elapsed: elapsed, of: collection, during: requests.operation)
      survey.add("Changes are asked for since the server's time.")
    case .next(let pointer):
      if answer.token == nil, answer.next == nil {
        survey.complain("\(pointer) (\(collection.place("delta.next"))) leads to nothing.")
      } else {
        survey.add("Changes are asked for at an address\(answer.token == nil ? " of a later page" : "").")
      }
    case .token(let pointer, _):
      if answer.token == nil, answer.next == nil {
        survey.complain("\(pointer) (\(collection.place("delta.token"))) leads to nothing.")
      } else {
        survey.add("Changes are asked for since a token\(answer.token == nil ? " of a later page" : "").")
      }
    case .etag:
      if answer.tag == nil {
        survey.complain(
          "The API gives no ETag, so each sync lists everything (\(collection.place("delta"))).")
      } else {
        survey.add("Unchanged pages are not sent again.")
      }
    case nil: survey.add("Each sync lists everything.")
    }
    guard collection.showsChangesAlone else {
      return survey.add("Deletions are found by each listing.")
    }
    let interval = collection.sweepInterval.map { "\($0.components.seconds) s" }
    if isMarked {
      survey.add("Deletions are marked\(interval.map { "; everything is listed every \($0)" } ?? "").")
    } else {
      survey.add(
        "Deletions are found by a listing of everything, \(interval.map { "every \($0)" } ?? "once a day").")
    }
    if collection.paging != nil {
      survey.add(
        collection.lookupPath == nil
          ? "A record that a listing lacks has to be missing twice."
          : "A record that a listing lacks can be looked up."
      )
    }
  }

  func writes(_ survey: inout RESTSurvey) {
    guard let push = collection.push else {
      return survey.add(
        "Edits cannot be pushed: the description has no \"push\".")
    }
    if push.create != nil {
      survey.add("New records get a key of the API's own.")
      if let name = push.idempotencyHeader {
        survey.add("A repeated creation is known by \(name).")
      } else if push.find != nil {
        survey.add("A creation whose answer is lost is looked for before it is repeated.")
      } else {
        survey.add("A creation whose answer is lost waits until the app retries or discards it.")
      }
    }
    if push.write == nil { survey.add("Changes of records cannot be pushed.") }
    switch push.precondition {
    case .etag: survey.add("Edits are pushed on the condition of an ETag.")
    case .version: survey.add("Edits are pushed with the version that they were made on.")
    case nil: survey.add("Edits are pushed after a look. A write of another client between the two is lost.")
    }
    if push.delete == nil { survey.add("Deletions cannot be pushed.") }
  }

  func cost(_ survey: inout RESTSurvey) {
    guard collection.paging != nil else { return survey.add("A first sync takes 1 request.") }
    guard let total = answer.total else {
      return survey.add(
        "A first sync takes an unknown number of requests: \(collection.place("total")) is not described.")
    }
    // The API may give fewer than are asked for.
    let size = max(1, answer.rows.count)
    survey.add(
      "A first sync of \(Counted(total, "record")) takes about \(Counted(total / size + 1, "request")) with \(Counted(size, "record")) each."
    )
  }
}

/// Requests that show whether an API takes the parameters of its description.
struct RESTTrial: Sendable {
  let listing: RESTListing
  let first: RESTAnswer
  let asked: RESTListing.Asked

  private var collection: RESTAPI.Collection { listing.collection }

  /// Asks for the page after the first one.
  func secondPage(_ survey: inout RESTSurvey) async throws(SyncError) {
    let pagination = RESTPagination(requests: listing.requests)
    var bookmark = RESTBookmark(
      coverage: .full, base: nil, candidate: RESTToken(.list, listedAt: Timestamp(microseconds: 0)))
    (bookmark.pages, bookmark.rows) = (1, first.rows.count)
    guard !first.rows.isEmpty,
      let place = try pagination.place(after: first, fresh: bookmark.rows, to: asked, &bookmark)
    else { return }
    bookmark.place = place
    let second = await answer(to: "for the second page", "paging", &survey) { limit in
      pagination.request(at: bookmark, atMost: limit)
    }
    if let second, second.rows == first.rows {
      survey.complain(
        "The second page is the first one again; does \(collection.place("paging")) name a parameter of the API?"
      )
    }
  }

  /// Asks for what has changed, which is nothing.
  ///
  /// - Parameter elapsed: How long the request for the first page took.
  func changes(elapsed: Duration, _ survey: inout RESTSurvey) async throws(SyncError) {
    var start = RESTToken(.list, listedAt: Timestamp(microseconds: 0))
    let name: String
    let member = if case .since = collection.delta { "delta.since" } else { "delta" }
    switch collection.delta {
    case .since(let parameter, _, let overlap, _):
      let now = try first.serverTime(elapsed: elapsed, of: collection, during: listing.operation)
      // No record has changed a minute from now.
      (name, start.start) = (parameter, .since(now + overlap + .seconds(60)))
    case .token(_, let parameter):
      guard let token = first.token else { return }
      (name, start.start) = (parameter, .token(token))
    // The answer to its address is a delta like any other, and shows nothing about a parameter.
    case .next: return
    case .etag: return try await unchangedPage(&survey)
    case nil: return
    }
    var segment = RESTSegment()
    var until: Timestamp?
    if collection.window != nil, case .since(let time) = start.start {
      (segment.from, until) = (time, time + .seconds(1))
    }
    let again = await answer(to: "for changes", member, &survey) { [start, segment, until] limit in
      listing.requests.first(start, limit: limit, in: segment, until: until)
    }
    guard let again, !again.rows.isEmpty, again.rows == first.rows else { return }
    survey.complain(
      "A request for changes gets the same \(Counted(again.rows.count, "record")) as one for everything; is \"\(name)\" a parameter of the API (\(collection.place(member)))?"
    )
  }

  /// Asks for the first page on the condition that it has changed.
  private func unchangedPage(_ survey: inout RESTSurvey) async throws(SyncError) {
    guard let tag = first.tag else { return }
    let again = try await listing.ask(headers: ["If-None-Match": tag]) { limit in
      listing.requests.first(nil, limit: limit)
    }
    if again.response.status == 200, again.response.headers["ETag"] == tag {
      survey.complain(
        "The API sends an unchanged page again, whatever its ETag (\(collection.place("delta"))).")
    }
  }

  /// The answer to a request; `nil`, with a problem, for a failure.
  ///
  /// The first page came, so the description is to blame, not the server.
  private func answer(
    to purpose: String, _ member: String, _ survey: inout RESTSurvey,
    _ address: (Int) -> RESTRequests.Call
  ) async -> RESTAnswer? {
    if listing.session.notices.remainingPause != nil { return pausing(purpose, &survey) }
    do throws(SyncError) {
      let asked = try await listing.ask(address)
      // A number beyond the last page.
      if member == "paging", collection.countsPages, asked.response.status == 404 { return nil }
      if listing.session.notices.remainingPause != nil || asked.response.status == 429 {
        return pausing(purpose, &survey)
      }
      guard asked.response.status < 400 else {
        survey.complain(
          "The server answers \(asked.response.status) to a request \(purpose) (\(collection.place(member)))."
        )
        return nil
      }
      return try RESTAnswer(asked.response, of: collection, during: listing.operation)
    } catch {
      survey.complain("A request \(purpose) fails (\(collection.place(member))): \(error.message)")
      return nil
    }
  }

  private func pausing(_ purpose: String, _ survey: inout RESTSurvey) -> RESTAnswer? {
    survey.add("A request \(purpose) was not tried: the server asks for a pause.")
    return nil
  }
}
