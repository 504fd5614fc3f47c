#if SQLite
  import CanonicalSync
  import CanonicalSyncTestServers
  import CanonicalSyncToolSupport
  import Foundation
  import SQLiteAdapters
  import Testing

  /// Compares a store with the server, and both with all edits.
  func expectTheTruth(
    in path: String, at server: BookkeepingKinto, account: Account, others: Others, _ replay: Comment
  ) async throws {
    let stored = try await Stored.read(path)
    let rows = server.rows
    // The store equals the server in its records, its tombstones and the versions of both.
    #expect(stored.members == rows.compactMapValues(\.content).mapValues(memberNames), replay)
    #expect(stored.copies == rows.filter { $0.value.content != nil }.mapValues(\.modified), replay)
    let gone = rows.filter { $0.value.content == nil }.mapValues(\.modified)
    #expect(stored.tombstones.allSatisfy { gone[$0.key] == $0.value }, replay)
    #expect(stored.pending == 0 && stored.withheld == 0, replay)
    #expect(stored.flaws == 0, replay)

    expectEveryEdit(of: account, and: others, in: rows, replay)
    expectOneEffectEach(server.effects, replay)
  }

  /// Checks that each stored edit is there, and no refused or unknown one.
  private func expectEveryEdit(
    of account: Account, and others: Others, in rows: [String: BookkeepingKinto.Row], _ replay: Comment
  ) {
    let there = Set(
      rows.flatMap { key, row in row.content.map { memberNames($0).map { "\(key).\($0)" } } ?? [] })
    let theirs = Set(others.members.flatMap { key, members in members.map { "\(key).\($0)" } })
      .filter { !$0.hasPrefix("d") }
    let additions = { (edits: Set<String>) in edits.filter { $0.contains(".") } }
    let lost = additions(account.made).union(theirs).subtracting(there)
    #expect(lost == [], "edits were lost; \(replay)")
    let known = additions(account.begun).subtracting(account.unmade).union(theirs)
    #expect(there.filter { !$0.hasPrefix("d") }.subtracting(known) == [], "unknown edits; \(replay)")

    let deleted = Set(rows.filter { $0.value.content == nil }.keys)
    let deletions = { (edits: Set<String>) in edits.filter { !$0.contains(".") } }
    let kept = deletions(account.made).union(others.deleted).subtracting(deleted)
    #expect(kept == [], "deletions were lost; \(replay)")
    let meant = deletions(account.begun).union(others.deleted)
    #expect(deleted.subtracting(meant) == [], "unknown deletions; \(replay)")
  }

  /// Checks that each effect is new, has its own base, and removes no member.
  private func expectOneEffectEach(_ effects: [BookkeepingKinto.Effect], _ replay: Comment) {
    var bases: Set<String> = []
    for effect in effects {
      if let base = effect.base {
        #expect(bases.insert("\(effect.key) \(base)").inserted, "two effects on \(effect.key); \(replay)")
      }
      guard let content = effect.content.map(memberNames) else { continue }
      let previous = effect.previous.map(memberNames) ?? []
      #expect(content.isStrictSuperset(of: previous), "\(effect.key) got nothing new; \(replay)")
    }
  }

  /// The names of a record's members, without those of the server.
  private func memberNames(_ json: String) -> Set<String> {
    let members = try? JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    return Set((members ?? [:]).keys).subtracting(["id", "last_modified", FieldName.editStamp.rawValue])
  }

  /// The content of a store.
  private struct Stored {
    var members: [String: Set<String>] = [:]
    /// The server's time of each live record, and of each deletion, by key.
    var copies: [String: Int64] = [:]
    var tombstones: [String: Int64] = [:]
    var pending = 0
    var withheld = 0
    /// The number of errors that SQLite finds in the file.
    var flaws: Int64?

    static func read(_ path: String) async throws -> Stored {
      let opened = try await OpenedStore.open(path, isReadOnly: true)
      var state = try await opened.store.read { (snapshot) throws(SyncError) in
        var state = Stored()
        for record in try snapshot.records(Query("items")) {
          state.members[record.id.key] = memberNames(String(decoding: record.payload.bytes, as: UTF8.self))
          state.copies[record.id.key] = record.version.modifiedAt.microseconds / 1000
        }
        for number in 0..<200 {
          let id = RecordID(type: "items", key: "d\(number)")
          guard let known = try snapshot.state(of: id), known.isDeleted else { continue }
          state.tombstones[id.key] = known.version.modifiedAt.microseconds / 1000
        }
        state.pending = try snapshot.outboxCount("items")
        state.withheld = try snapshot.withheldCounts("items").values.reduce(0, +)
        return state
      }
      // A database checks itself.
      state.flaws = 0
      if let file = opened.store as? SQLiteStore {
        state.flaws = try await file.number(
          "SELECT count(*) FROM pragma_integrity_check() WHERE integrity_check <> 'ok'")
      }
      await opened.close()
      return state
    }
  }
#endif
