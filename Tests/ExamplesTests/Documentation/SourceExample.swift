#if SQLite
  import CanonicalSync
  import InMemoryAdapters
  import SyncJSON
  import Testing

  // The code of Docs/WritingASource.md.

  /// A server whose answers are JSON arrays of records, oldest change first.
  protocol ChangeServer: Sendable {
    /// The records that changed after a time in milliseconds, with the server's time.
    ///
    /// There are at most `limit` records. The server takes its time before it reads them.
    func changes(of type: String, after: Int64, limit: Int) async throws -> (body: [UInt8], serverTime: Int64)
  }

  /// A remote that tells what changed since a time.
  struct ChangeSource<Server: ChangeServer>: RemoteRecordSource {
    let server: Server
    let identity: String

    let capabilities = SourceCapabilities(
      deltas: .modifiedSince(overlap: .seconds(5)), sendsTombstones: true, listing: .moving)

    func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
      guard let place = Place(request.position) else {
        return RecordPage(coverage: .everything, changes: [], next: .reset(.pageTokenExpired))
      }
      let answer: (body: [UInt8], serverTime: Int64)
      do {
        answer = try await server.changes(
          of: request.entity.type.rawValue, after: place.after, limit: request.limit)
      } catch {
        throw SyncError(
          .remoteUnavailable, during: "fetching a page of \(request.entity.type)", underlying: error)
      }
      let changes = try read(answer.body, as: request.entity)
      return RecordPage(
        coverage: place.since == 0 ? .everything : .changes, changes: changes,
        // Taken before the server reads, less the overlap. Late changes are then in the next delta.
        startToken: SyncToken(String(answer.serverTime - 5000)),
        next: changes.count < request.limit
          ? .done(nil) : .more(place.next(after: changes), resumable: true))
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

  /// The starts of a pass and of its next page, in milliseconds.
  private struct Place {
    var since: Int64
    var after: Int64

    /// Parses a token; `nil` for a token that is not this source's.
    init?(_ position: PullPosition) {
      switch position {
      case .start(let token):
        guard let start = Int64(token?.rawValue ?? "0") else { return nil }
        (since, after) = (start, start)
      case .resume(let token):
        let parts = token.rawValue.split(separator: " ").compactMap { Int64($0) }
        guard parts.count == 2 else { return nil }
        (since, after) = (parts[0], parts[1])
      }
    }

    func next(after changes: [RecordChange]) -> PageToken {
      let last = changes.reduce(after) { latest, change in
        switch change {
        case .upsert(let record): max(latest, record.version.modifiedAt.microseconds / 1000)
        case .tombstone(let tombstone): max(latest, tombstone.version.modifiedAt.microseconds / 1000)
        case .malformed: latest
        }
      }
      return PageToken("\(since) \(last)")
    }
  }

  @Suite("The guide to writing a source")
  struct SourceExampleTests {
    struct Fixed: ChangeServer {
      func changes(of type: String, after: Int64, limit: Int) -> (body: [UInt8], serverTime: Int64) {
        let records = (1...5).filter { $0 * 1000 > after }.prefix(limit)
        let body = records.map { #"{"id":"r\#($0)","updated_at":\#($0 * 1000)}"# }.joined(separator: ",")
        return (Array("[\(body)]".utf8), 100_000)
      }
    }

    @Test func startsOverAtATokenThatMeansNothing() async throws {
      let source = ChangeSource(server: Fixed(), identity: "example")
      for position in [
        PullPosition.start(since: SyncToken("x")), .resume(PageToken("1")), .resume(PageToken("1 x")),
      ] {
        let page = try await source.page(
          PageRequest(entity: Entity("notes"), position: position, limit: 2, pass: 1))
        #expect(page.next == .reset(.pageTokenExpired))
      }
    }

    @Test func showsASourceThatSyncs() async throws {
      let engine = try await SyncEngine(
        schema: SyncSchema(Entity("notes")), store: InMemoryStore(),
        source: ChangeSource(server: Fixed(), identity: "example"), options: SyncOptions(pageSize: 2))
      let result = try await engine.sync()
      #expect(result["notes"].inserted == 5)
      #expect(result["notes"].pages == 3)
      #expect(try await engine.sync().isEmpty)
    }
  }
#endif
