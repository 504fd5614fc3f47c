import SyncAdapters

// The code of Docs/WritingASource.md.

/// A server whose answers are JSON arrays of records, oldest change first.
protocol ChangeServer: Sendable {
  /// The records that changed after a time in milliseconds, at most `limit` of them.
  ///
  /// A cursor from one answer requests the rest of the same list.
  func changes(of type: String, since: Int64, cursor: String?, limit: Int) async throws -> ChangeAnswer
}

/// An answer of the server.
struct ChangeAnswer: Sendable {
  /// A JSON array of records.
  var body: [UInt8]
  /// The server's time in milliseconds, taken before it read the records.
  var serverTime: Int64
  /// The place after the body's last record; `nil` at the end.
  var cursor: String?
}

/// A remote that lists what changed since a time.
struct ChangeSource<Server: ChangeServer>: RemoteRecordSource {
  let server: Server
  let identity: String

  let capabilities = SourceCapabilities(
    deltas: .modifiedSince(overlap: .seconds(5)), sendsTombstones: true, listing: .moving,
    serverManagedFields: ["id", "updated_at"])

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    let place: Place
    switch request.position {
    case .start(let token):
      guard let start = Place(token) else { return .restarting(.tokenExpired) }
      place = start
    case .resume(let token):
      guard let next = Place(token) else { return .restarting(.pageTokenExpired) }
      place = next
    }
    let answer: ChangeAnswer
    do {
      answer = try await server.changes(
        of: request.entity.type.rawValue, since: place.since ?? 0, cursor: place.cursor,
        limit: request.limit)
    } catch {
      throw SyncError(
        .remoteUnavailable, during: "fetching a page of \(request.entity.type)", underlying: error)
    }
    return RecordPage(
      coverage: place.since == nil ? .full : .delta,
      changes: try read(answer.body, as: request.entity),
      // Of the first page alone, and less the overlap. Late changes are then in the next delta.
      startToken: place.cursor == nil ? SyncToken(String(answer.serverTime - 5000)) : nil,
      next: answer.cursor.map { .more(place.token(at: $0), resumable: true) } ?? .done(nil))
  }

  private func read(_ body: [UInt8], as entity: Entity) throws(SyncError) -> [RecordChange] {
    let reader = RecordReader(
      entity, layout: RecordLayout(modifiedAt: "updated_at", deleted: "deleted"))
    var changes: [RecordChange] = []
    do {
      try JSONScanner.elements(of: body[...]) { element throws(JSONError) in
        changes.append(reader.read(element.bytes))
      }
    } catch {
      throw SyncError(.invalidResponse, during: "reading a page of \(entity.type)", underlying: error)
    }
    return changes
  }
}

/// The start of a pass, and the server's cursor of a later page.
private struct Place {
  /// `nil` in a full listing.
  var since: Int64?
  var cursor: String?

  /// Parses the token of a delta; `nil` for a token that is not this source's.
  init?(_ token: SyncToken?) {
    guard let token else { return }
    guard let since = Int64(token.rawValue) else { return nil }
    self.since = since
  }

  /// Parses the token of a page; `nil` for a token that is not this source's.
  init?(_ token: PageToken) {
    let parts = token.rawValue.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let since = parts[0] == "all" ? .some(nil) : Int64(parts[0]).map(Optional.some)
    else { return nil }
    (self.since, cursor) = (since, String(parts[1]))
  }

  func token(at cursor: String) -> PageToken {
    PageToken("\(since.map(String.init) ?? "all") \(cursor)")
  }
}

extension RecordPage {
  /// The answer to a token that means nothing: the pass starts over.
  fileprivate static func restarting(_ reason: ResetReason) -> RecordPage {
    RecordPage(coverage: .full, changes: [], next: .reset(reason))
  }
}
