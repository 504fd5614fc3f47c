import SyncModels
import SyncPorts

// A new record on its way to an API that gives it a key of its own. No lost answer makes a second
// record: the API knows a request again by its idempotency key, or the record is found by a member
// that the app has set, or the edit waits until the app decides.
extension RESTEdit {
  /// Makes the record, or finds it where an earlier attempt may have made it.
  func create(_ request: RESTAPI.Request, during operation: String) async throws(SyncError) -> PushOutcome {
    if change.mayHaveArrived, push.idempotencyHeader == nil {
      if let outcome = try await found(during: operation) { return outcome }
      if push.find == nil { return .unknown(reason: Self.lost) }
    }
    var headers: HTTPHeaders = ["Content-Type": "application/json"]
    if let name = push.idempotencyHeader { headers[name] = change.key.rawValue }
    let response: HTTPResponse
    do throws(SyncError) {
      response = try await session.send(
        request.method, records.requests.collection(request.path),
        headers: try await records.requests.headers(headers),
        body: try body(onto: nil, during: operation), isAboutEdits: true, during: operation)
    } catch {
      // Credentials that could not be obtained have sent nothing.
      if error.code == .authentication || error.code == .invalidConfiguration { throw error }
      // Neither a request in a pause nor one without a connection has reached the server.
      let wasSent = (error.underlying as? any TransportFailure)?.mayHaveArrived ?? (error.retryAfter == nil)
      guard wasSent else { return .retryLater(after: error.retryAfter) }
      if isRepeatable { throw error }
      return .unknown(reason: Self.lost)
    }
    let limit = RequestedPause.limit(in: response)
    switch response.status {
    // An answer elsewhere may be that to the new record, or a page to log in; a 304 tells nothing.
    case 200...299, 302, 303, 304: return try await made(response, during: operation)
    case 301, 308:
      return .refused(
        reason: refusal(response, "it names another address\(elsewhere(response)), where no edit is sent"))
    case 401, 429: return .retryLater(after: limit)
    case 403 where limit != nil: return .retryLater(after: limit)
    case 423, 425: return .retryLater(after: RequestedPause.retryAfter(in: response))
    case 408, 500...599:
      if let pause = RequestedPause.retryAfter(in: response), response.status == 503 {
        return .retryLater(after: pause)
      }
      if response.status == 507 { return .quotaExceeded }
      guard !isRepeatable else {
        throw HTTPFailure.status(response, during: operation, awaited: "an answer to a new record")
      }
      return .unknown(reason: "\(Self.lost) The server answered \(response.status).")
    case let status:
      return .refused(
        reason: refusal(response, HTTPFailure.denial(status) ?? "the server does not take the new record"))
    }
  }

  private static let lost = "The server's answer was lost, and it may have made the record."

  private var isRepeatable: Bool { push.idempotencyHeader != nil || push.find != nil }

  /// The outcome of an accepted creation.
  private func made(_ response: HTTPResponse, during operation: String) async throws(SyncError) -> PushOutcome
  {
    // An answer may be anything but the record.
    let answer = try? records.copy(in: response, during: operation)
    if case .upsert(let record)? = answer?.change {
      let isAccepted = response.status == 202
      if !isAccepted, let sent = change.content.payload,
        content.isWhole(record.payload, sent: sent, base: nil)
      {
        return outcome(record)
      }
      // A part of the record, or the job that will make it, which has a key too. The key is known, so a
      // look that fails must not cost it.
      let look = try? await records.look(at: record.id.key, during: operation)
      if case .upsert(let whole)? = look?.change { return outcome(whole) }
      if !isAccepted { return outcome(record) }
    }
    if let key = response.headers["Location"].flatMap(records.requests.key),
      case .upsert(let record)? = try await records.look(at: key, during: operation)?.change
    {
      return outcome(record)
    }
    return try await found(during: operation)
      ?? .unknown(
        reason: "The server answered \(response.status) without the record, so its key is not known.")
  }

  private func outcome(_ record: Record) -> PushOutcome {
    record.id == change.id ? .accepted(.upsert(record)) : .moved(record)
  }

  /// The record that an earlier attempt has made, if it can be found by a member.
  ///
  /// An API that does not know the parameter shows other records.
  private func found(during operation: String) async throws(SyncError) -> PushOutcome? {
    guard let find = push.find else { return nil }
    let address = records.requests.list(find, key: change.id.key)
    let found = try await records.found(at: address, during: operation)
    if found.isEmpty { return nil }
    let own = found.first { record in
      content.names(record.payload, change.id.key)
        || change.content.payload.map { content.holds(record.payload, $0, removedFrom: nil) } ?? false
    }
    let place = records.requests.collection.place("push.find")
    return own.map(outcome)
      ?? .unknown(
        reason: "\(Self.lost) \(place) leads to other records alone: does the API know the parameter?")
  }
}
