import SyncJSON
import SyncModels

/// One page, and its description.
struct RESTLook: Sendable {
  let answer: RESTAnswer
  let collection: RESTAPI.Collection
  let requests: RESTRequests
  let address: HTTPAddress
  let limit: Int

  private var isMarked: Bool { collection.deleted != nil }

  /// Tells how the list is asked for.
  func request(_ survey: inout RESTSurvey) {
    if let request = collection.request {
      survey.add("The list is asked for by \(request.method), with a body.")
    }
    if !collection.headers.isEmpty {
      survey.add(
        "Requests for it have the headers \(collection.headers.keys.sorted().joined(separator: ", ")).")
    }
    if let errors = collection.errors { survey.add("An answer with anything at \(errors) is a failure.") }
    if let first = collection.firstCursor { survey.add("The first page is asked for at \"\(first)\".") }
  }

  func records(_ survey: inout RESTSurvey) {
    let count = answer.rows.count
    survey.add(
      "\(Counted(count, "record")) on the first page, at \(collection.records.text.isEmpty ? "the top" : collection.records.text)."
    )
    guard count > 0 else { return }
    if let filter = collection.filter {
      let selected = answer.rows.count(where: filter.selects)
      survey.add("\(selected) of them \(selected == 1 ? "is" : "are") of the type.")
      if selected == 0 {
        survey.complain(
          "No element has what \(filter.pointer) (\(collection.place("where"))) has to be; is it the right member?"
        )
      }
    }
    if !collection.furtherID.isEmpty {
      survey.add("A key has \(collection.furtherID.count + 1) parts.")
    }
    let reader = RESTRecordReader(collection, as: collection.entity)
    var (flaws, first) = (0, "")
    for case .malformed(let malformed) in answer.rows.map(reader.read) {
      if flaws == 0 { first = malformed.reason }
      flaws += 1
    }
    if flaws > 0 {
      survey.complain("\(flaws) of \(Counted(count, "record")) cannot be read; the first of them: \(first).")
    }
    if let version = collection.version {
      found(version, "version", needed: true, &survey)
      if let format = collection.versionFormat { survey.add("Versions are read as \(format.layout).") }
      if collection.versionFormat == nil, answer.rows.contains(where: { Self.isLocal(version, in: $0) }) {
        survey.add(
          "\(version) (\(collection.place("version"))) has times without a zone, which are read as UTC. If their zone has summer time, a change in the hour that autumn repeats is taken for an older one, until `--resync`."
        )
      }
    }
    for reference in collection.entity.references {
      guard let pointer = Self.pointer(reference.field) else { continue }
      found(pointer, "references.\(reference.field)", needed: false, &survey)
    }
    for index in collection.entity.indexes {
      guard let pointer = Self.pointer(index) else { continue }
      found(pointer, "indexes", needed: false, &survey)
    }
  }

  /// Whether a version is a time of an unknown zone.
  private static func isLocal(_ version: JSONPointer, in row: ArraySlice<UInt8>) -> Bool {
    guard let record = try? JSONValueSlice(checking: row), let text = version.value(in: record)?.string()
    else { return false }
    return text.contains(":") && Timestamp(iso8601: text) != nil
      && Timestamp(iso8601: Array(text.utf8)[...], withOffset: true) == nil
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
    if let more = collection.more {
      survey.add(
        "\(more.pointer) (\(collection.place("paging.more"))) says that \(answer.saysMore == false ? "no page follows" : "pages follow").\(answer.saysMore == false && isFull ? " The page is full: is that the right member?" : "")"
      )
    }
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
      if case .since(_, let format, let overlap, _) = collection.delta {
        let text = collection.sinceTemplate.map { " in \"\($0)\"" } ?? ""
        survey.add(
          "It is sent as \(format.layout)\(text), \(overlap.components.seconds) s earlier than it is, for late commits."
        )
      }
      if let window = collection.window {
        let start = window.start == nil ? ". The first listing has no span" : ", the first one from \"start\""
        survey.add("Spans of \(window.length.components.seconds) s at most follow each other\(start).")
      }
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
      if interval == nil, !collection.query.isEmpty {
        survey.add(
          "A record that leaves what \(collection.place("query")) selects shows in no change; \(collection.place("sweepEvery")) would find it."
        )
      }
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
    if !push.body.text.isEmpty { survey.add("A sent record is wrapped in \(push.body).") }
    if let reason = push.reason { survey.add("The reason of a refusal is read at \(reason).") }
    survey.add("Up to \(Counted(push.atOnce, "edit is", "edits are")) sent side by side.")
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
      "A first sync of \(Counted(total, "record")) takes about \(Counted(max(1, (total + size - 1) / size), "request")) with \(Counted(size, "record")) each."
    )
  }
}
