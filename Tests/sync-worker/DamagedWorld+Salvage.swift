#if SQLite && (Curl || !os(Linux))
  import CanonicalSync
  import SyncAdapters
  import InMemoryAdapters
  import SQLiteAdapters
  import SyncMaintenance

  /// The pending edits that a store lists, which exist nowhere else.
  enum PendingEdits {
    /// Reads the edits; `nil` if the store does not list all of them.
    static func read(_ path: String) async -> [OutboxEntry]? {
      do throws(SyncError) {
        let store = try await SQLiteStore.open(
          path: path, configuration: .init(isReadOnly: true, readerCount: 1))
        let edits: Result<[OutboxEntry], SyncError>
        do throws(SyncError) {
          edits = .success(try await read(store))
        } catch {
          edits = .failure(error)
        }
        await store.close()
        return try edits.get()
      } catch {
        return nil
      }
    }

    static func read(_ store: SQLiteStore) async throws(SyncError) -> [OutboxEntry] {
      try await store.read { (snapshot) throws(SyncError) in
        var entries: [OutboxEntry] = []
        for entity in try snapshot.registeredEntities() {
          entries += try snapshot.outbox(entity.type, after: nil, limit: 100_000)
        }
        return entries
      }
    }
  }

  /// The edits of an intact store, to look for in a damaged copy.
  struct KnownEdits {
    private var questions: [(id: RecordID, sql: String)] = []
    /// The payloads of the edits; none for deletions.
    private(set) var payloads: [RecordID: Payload] = [:]

    init(of path: String) async throws(SyncError) {
      let store = try await SQLiteStore.open(path: path)
      let entries = try await PendingEdits.read(store)
      for entry in entries {
        payloads[entry.id] = entry.edit.content.payload
        let record = "type = '\(entry.id.type)' AND id = '\(entry.id.key)'"
        let row = try await store.number("SELECT entry FROM outbox WHERE \(record)") ?? 0
        let payload = entry.edit.content.payload.map { payload in
          "= x'" + payload.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            + "'"
        }
        questions.append(
          (
            entry.id,
            """
            SELECT count(*) FROM outbox WHERE entry = \(row) AND \(record) \
            AND payload \(payload ?? "IS NULL AND schema_version IS NULL")
            """
          ))
      }
      await store.close()
    }

    /// The edits that a damaged store still holds, each looked up by its row.
    func readable(in path: String) async -> Set<RecordID> {
      // Closing a store that can be written ends its log.
      let reading = SQLiteStore.Configuration(
        isReadOnly: true, busyTimeout: .milliseconds(50), readerCount: 1)
      guard let store = try? await SQLiteStore.open(path: path, configuration: reading) else { return [] }
      var readable: Set<RecordID> = []
      for question in questions where (try? await store.number(question.sql)) == 1 {
        readable.insert(question.id)
      }
      await store.close()
      return readable
    }
  }

  extension DamagedWorld {
    /// Makes a new store of a damaged one, syncs it, and returns its flaws.
    func salvage(_ path: String, to target: String, edits: KnownEdits) async throws(SyncError) -> [String] {
      let readable = await edits.readable(in: path)
      let store = try await SQLiteStore.open(
        path: target, configuration: .init(busyTimeout: .milliseconds(50), readerCount: 1))
      let source = SQLiteSalvage(path: path, scratch: target + ".copy")
      let complaints: Result<[String], SyncError>
      do throws(SyncError) {
        complaints = .success(try await check(source, store, edits, readable))
      } catch {
        complaints = .failure(error)
      }
      await source.close()
      await store.close()
      return try complaints.get()
    }

    private func check(
      _ source: SQLiteSalvage, _ store: SQLiteStore, _ edits: KnownEdits, _ readable: Set<RecordID>
    ) async throws(SyncError) -> [String] {
      let report: SalvageReport
      do throws(SyncError) {
        report = try await StoreSalvage(from: source, to: store).run()
      } catch {
        // A file of which nothing can be read has no edit that could be kept.
        guard error.code == .storeUnreadable else { throw error }
        return readable.isEmpty ? [] : ["nothing is salvaged, and \(readable.count) edits are readable"]
      }
      var complaints: [String] = []
      let contents = try await pendingContents(store)
      let kept = Set(contents.keys)
      let altered = readable.filter { id in
        contents[id].map { $0.payload != edits.payloads[id] } ?? false
      }.sorted()
      if !altered.isEmpty {
        complaints.append("\(altered.count) readable edits are altered, such as \(altered[0])")
      }
      let lost = readable.subtracting(kept).sorted()
      if !lost.isEmpty { complaints.append("\(lost.count) readable edits are lost, such as \(lost[0])") }
      if report.edits != kept.count { complaints.append("\(report.edits) edits counted, \(kept.count) kept") }
      let findings = try await StoreVerification(of: store).run().findings
      if let first = findings.first { complaints.append("the new store is not sound: \(first)") }
      let engine = try await engine(on: store)
      for _ in 0..<2 { _ = try await engine.sync(SyncRequest(allowsMassDeletion: true)) }
      complaints += try await differences(store)
      let after = try await StoreVerification(of: store).run().findings
      // An edit is kept as it reads. If the damage changed which record it refers to, a
      // verification names that until the app sets or discards the edit.
      let edited = try await pending(store)
      let unsound = after.filter { finding in
        guard finding.part == .references, let type = finding.type, let key = finding.key else { return true }
        return !edited.contains(RecordID(type: type, key: key))
      }
      if let first = unsound.first { complaints.append("the synced store is not sound: \(first)") }
      return complaints
    }

    private func pending(_ store: SQLiteStore) async throws(SyncError) -> Set<RecordID> {
      Set(try await pendingContents(store).keys)
    }

    private func pendingContents(_ store: SQLiteStore) async throws(SyncError) -> [RecordID: Edit.Content] {
      Dictionary(
        try await PendingEdits.read(store).map { ($0.id, $0.edit.content) },
        uniquingKeysWith: { first, _ in first })
    }

    /// The records that two stores may show differently.
    ///
    /// A new store has neither the record of a held deletion nor what refers to it. Of a record
    /// whose newest copy is parked in both, the salvaged store may show an older copy, and what
    /// refers to it. It shows no record that refers to one which an edit deletes.
    private func withheld(
      in store: SQLiteStore, besides fresh: InMemoryStore, edited: Set<RecordID>
    ) async throws(SyncError) -> Set<RecordID> {
      let there = try await withheld(.parked, in: fresh)
      let here = try await withheld(.parked, in: store)
      let parkedThere = Set(there.compactMap(\.change.id))
      let older = here.filter { entry in
        !edited.isDisjoint(with: entry.waitsFor) || entry.change.id.map(parkedThere.contains) ?? false
      }
      var excepted = Set((try await withheld(.held, in: store) + older).compactMap(\.change.id))
      var count = 0
      while count < excepted.count {
        count = excepted.count
        let referring = there.filter { !excepted.isDisjoint(with: $0.waitsFor) }
        excepted.formUnion(referring.compactMap(\.change.id))
      }
      return excepted
    }

    private func withheld(
      _ kind: WithheldChange.Kind, in store: some LocalStore
    ) async throws(SyncError) -> [WithheldChange] {
      let types = schema.entities.map(\.type)
      return try await store.read { (snapshot) throws(SyncError) in
        var found: [WithheldChange] = []
        for type in types {
          found += try snapshot.withheld(type, kinds: [kind], after: nil, limit: 10_000)
        }
        return found
      }
    }

    /// The differences between a synced store and one that was synced for the first time.
    private func differences(_ store: SQLiteStore) async throws(SyncError) -> [String] {
      let fresh = InMemoryStore()
      let engine = try await SyncEngine(
        schema: schema, store: fresh, source: remote, clock: clock, options: SyncOptions(pageSize: 1000),
        random: RepeatedNumber(7))
      _ = try await engine.sync()
      let edited = try await pending(store)
      let excepted = edited.union(try await withheld(in: store, besides: fresh, edited: edited))
      var complaints: [String] = []
      for type in schema.entities.map(\.type) {
        let own = try await store.read { (snapshot) throws(SyncError) in try snapshot.records(Query(type)) }
        let (a, b) = (own.payloads(without: excepted), fresh.records(of: type).payloads(without: excepted))
        let different = Set(a.keys).union(b.keys).filter { a[$0] != b[$0] }.sorted()
        if let first = different.first {
          complaints.append("\(different.count) of \(type) differ from the remote's, such as \(first)")
        }
      }
      return complaints
    }
  }

  extension [Record] {
    fileprivate func payloads(without edited: Set<RecordID>) -> [RecordID: Payload] {
      Dictionary(
        filter { !edited.contains($0.id) }.map { ($0.id, $0.payload) },
        uniquingKeysWith: { first, _ in first })
    }
  }
#endif
