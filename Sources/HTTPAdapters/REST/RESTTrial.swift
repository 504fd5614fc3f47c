import SyncModels

/// Requests that show whether an API takes the parameters of its description.
struct RESTTrial: Sendable {
  let listing: RESTListing
  let first: RESTAnswer
  let asked: RESTListing.Asked
  /// The list that the first page is of.
  let segment: RESTSegment
  let until: Timestamp?

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

  /// Asks for the first record alone, as a sweep and a push do.
  func firstRecord(_ survey: inout RESTSurvey) async throws(SyncError) {
    guard let path = collection.lookupPath else { return }
    let reader = RESTRecordReader(collection, as: collection.entity)
    guard let key = first.rows.lazy.compactMap({ reader.read($0).id?.key }).first else { return }
    let place = collection.place(collection.item == nil ? "push.write" : "item")
    let records = RESTRecords(requests: listing.requests, entity: collection.entity, session: listing.session)
    do throws(SyncError) {
      guard let copy = try await records.look(at: key, during: listing.operation) else {
        return survey.complain(
          "There is nothing at \(path) (\(place)) for \(key), which the list has.")
      }
      guard collection.push?.precondition == .etag, copy.tag?.hasPrefix("W/") ?? true else { return }
      survey.complain(
        "A record comes with \(copy.tag == nil ? "no" : "a weak") ETag, so \(collection.place("push.precondition")) cannot be \"etag\"."
      )
    } catch {
      guard error.code != .remoteUnavailable else { return }
      survey.complain("A request for one record fails (\(place)): \(error.message)")
    }
  }

  /// Asks with a parameter that no API has, to know whether a misspelled one would be told.
  func unknownParameter(_ survey: inout RESTSurvey) async {
    guard listing.session.notices.remainingPause == nil else { return }
    let asked = try? await listing.ask { limit in
      var call = listing.requests.first(nil, limit: limit, in: segment, until: until)
      call.address = call.address.adding("canonicalsync-check", "1")
      return call
    }
    // A failure of the server tells nothing about the description.
    switch asked?.response.status ?? 0 {
    case 200...299:
      survey.add("The API ignores parameters that it does not know, so it does not tell of a misspelled one.")
    case 400, 404, 422:
      survey.add("The API refuses parameters that it does not know.")
    default: break
    }
  }

  /// Asks for what has changed since a moment before the newest version, which is a record or more.
  func newest(_ survey: inout RESTSurvey) async {
    guard case .since(let name, _, let overlap, _) = collection.delta, collection.window == nil else {
      return
    }
    let reader = RESTRecordReader(collection, as: collection.entity)
    let times = first.rows.compactMap { row -> (key: String, at: Timestamp)? in
      guard case .upsert(let record) = reader.read(row), record.version.sequence == 0 else { return nil }
      return (record.id.key, record.version.modifiedAt)
    }
    guard let newest = times.max(by: { $0.at < $1.at }), newest.at.microseconds > 0 else { return }
    var start = RESTToken(.list, listedAt: Timestamp(microseconds: 0))
    start.start = .since(newest.at + overlap - .seconds(1))
    let again = await answer(to: "for changes", "delta.since", &survey) { [start, segment] limit in
      listing.requests.first(start, limit: limit, in: segment)
    }
    guard let again, again.next == nil, again.rows.count < max(1, first.rows.count),
      !again.rows.contains(where: { reader.read($0).id?.key == newest.key })
    else { return }
    survey.complain(
      "A request for changes since a moment before the newest version of the first page, that of \(newest.key), lacks that record; does \"\(name)\" have the layout that the API reads (\(collection.place("delta.since")))?"
    )
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
