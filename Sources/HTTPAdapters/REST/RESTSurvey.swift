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
  /// Compares what the description says of all types with the API.
  ///
  /// - Throws: `authentication` and `remoteUnavailable`. Another failure is a problem in the result.
  package func surveyAccess() async throws(SyncError) -> RESTSurvey {
    var survey = RESTSurvey()
    if let credentials = api.credentials {
      survey.add(
        "Requests carry \(credentials)\(renewsCredentials ? ", which are read again after a refusal" : "").")
    } else {
      survey.add("Requests carry no credentials.")
    }
    if !api.headers.isEmpty {
      survey.add("Requests have the headers \(api.headers.keys.sorted().joined(separator: ", ")).")
    }
    if let pace = api.pace {
      survey.add("At most \(Counted(pace.requests, "request is", "requests are")) sent in \(pace.span).")
    }
    if api.keepsUnknownMembers {
      survey.add("Edits are stamped, in members that the API is said to keep (keepsUnknownMembers).")
    }
    do throws(SyncError) {
      switch try await account() {
      case .named(let name)?: survey.add("The data are those of the account \(name) (account).")
      case .credentials?:
        survey.add("Nothing names the account, so other credentials list everything anew (account).")
      case nil: break
      }
    } catch {
      guard error.code != .authentication, error.code != .remoteUnavailable else { throw error }
      survey.complain(error.message)
    }
    return survey
  }

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
      let which =
        under.followsChanges
        ? "each record of \(under.type) that has changed" : "each record of \(under.type)"
      survey.add(
        "There is one list for \(which). The one under \(parent) is looked at. \"\(under.member)\" has the key of that record\(under.hasKeysWithin ? ", which is also the first part of a key" : "")."
      )
    }
    if let each = collection.each {
      survey.add(
        "There is one list for each of \(Counted(each.values.count, "value")) of \"\(each.parameter)\".")
    }
    var until: Timestamp?
    if let window = collection.window, let start = window.start {
      (segment.from, until) = (start, start + window.length)
    }
    let asked = try await listing.ask { [segment, until] limit in
      requests.first(nil, limit: limit, in: segment, until: until)
    }
    let elapsed = stopwatch()
    do throws(SyncError) {
      let answer = try RESTAnswer(asked.response, of: collection, during: requests.operation)
      let look = RESTLook(
        answer: answer, collection: collection, requests: requests, address: asked.address,
        limit: asked.limit)
      look.request(&survey)
      look.records(&survey)
      look.pages(&survey)
      try look.changes(elapsed: elapsed, &survey)
      look.writes(&survey)
      look.cost(&survey)
      guard survey.problems.isEmpty else { return survey }
      let trial = RESTTrial(
        listing: listing, first: answer, asked: asked, segment: segment, until: until)
      try await trial.secondPage(&survey)
      try await trial.changes(elapsed: elapsed, &survey)
      await trial.newest(&survey)
      try await trial.firstRecord(&survey)
      await trial.unknownParameter(&survey)
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
