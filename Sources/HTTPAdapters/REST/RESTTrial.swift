import SyncModels

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
      coverage: .everything, base: nil, candidate: RESTToken(.list, listedAt: Timestamp(microseconds: 0)))
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
    switch collection.delta {
    case .since(let parameter, _, let overlap, _):
      let now = try first.serverTime(elapsed: elapsed, of: collection, during: listing.operation)
      // No record has changed a minute from now.
      (name, start.start) = (parameter, .since(now + overlap + .seconds(60)))
    case .token(_, let parameter):
      guard let token = first.token else { return }
      (name, start.start) = (parameter, .token(token))
    case .etag: return try await unchangedPage(&survey)
    case nil: return
    }
    let again = await answer(to: "for changes", "delta", &survey) { limit in
      (limit, listing.requests.first(start, limit: limit))
    }
    guard let again, !again.rows.isEmpty, again.rows == first.rows else { return }
    survey.complain(
      "A request for changes gets the same \(Counted(again.rows.count, "record")) as one for everything; is \"\(name)\" a parameter of the API (\(collection.place("delta")))?"
    )
  }

  /// Asks for the first page on the condition that it has changed.
  private func unchangedPage(_ survey: inout RESTSurvey) async throws(SyncError) {
    guard let tag = first.tag else { return }
    let again = try await listing.ask(headers: ["If-None-Match": tag]) { limit in
      (limit, listing.requests.first(nil, limit: limit))
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
    _ address: (Int) -> (limit: Int, address: HTTPAddress)
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
    survey.note("A request \(purpose) was not tried: the server asks for a pause.")
    return nil
  }
}
