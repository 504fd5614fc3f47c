import SyncJSON
import SyncModels

/// Single records of one collection.
struct RESTRecords: Sendable {
  let requests: RESTRequests
  let session: HTTPSession
  private let reader: RESTRecordReader

  /// A copy of a record, with the tag that a precondition repeats.
  struct Copy: Sendable {
    var change: RecordChange
    var tag: String?
  }

  init(requests: RESTRequests, entity: Entity, session: HTTPSession) {
    self.requests = requests
    self.session = session
    reader = RESTRecordReader(requests.collection, as: entity)
  }

  /// Returns the current copy of a record; `nil` if there is none.
  ///
  /// - Throws: The error that the status means; `inconsistentData` if the answer holds another
  ///   record.
  func look(at key: String, during operation: String) async throws(SyncError) -> Copy? {
    guard let path = requests.collection.lookupPath, let address = requests.record(key, path: path) else {
      return nil
    }
    let response = try await session.send("GET", address, during: operation)
    if response.status == 404 || response.status == 410 { return nil }
    guard response.status == 200 else {
      throw HTTPFailure.status(response, during: operation, awaited: "an answer to a request for a record")
    }
    guard let copy = try copy(in: response, during: operation) else {
      throw SyncError(.invalidResponse, during: operation, "The answer is empty.")
    }
    if case .malformed(let malformed) = copy.change, malformed.key == nil {
      // The path names the record, whatever cannot be read of it.
      let named = MalformedRecord(
        type: malformed.type, key: key, bytes: malformed.bytes, reason: malformed.reason)
      return Copy(change: .malformed(named), tag: copy.tag)
    }
    guard copy.change.id?.key.utf8.elementsEqual(key.utf8) == true else {
      throw SyncError(
        .inconsistentData, during: operation,
        "The record at \(requests.collection.place("item")) has another key than was asked for.")
    }
    return copy
  }

  /// The record in an answer; `nil` for an answer without a body.
  func copy(in response: HTTPResponse, during operation: String) throws(SyncError) -> Copy? {
    guard !response.body.isEmpty, response.status != 204 else { return nil }
    let whole: JSONValueSlice
    do {
      whole = try JSONValueSlice(checking: response.body[...], depthLimit: .max)
    } catch {
      throw HTTPFailure.unreadable(error, during: operation)
    }
    guard let value = requests.collection.itemRecord.value(in: whole) else {
      throw SyncError(
        .inconsistentData, during: operation,
        "\(requests.collection.itemRecord) (\(requests.collection.place("item.record"))) leads to nothing.")
    }
    return Copy(change: reader.read(value.bytes), tag: response.headers["ETag"])
  }
}
