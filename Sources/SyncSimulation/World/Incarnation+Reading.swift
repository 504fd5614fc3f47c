import SyncCore
import SyncModels
import SyncPorts

extension Incarnation {
  /// Reads some records at once, each in a task of its own, of which some are cancelled.
  ///
  /// Such reads share transactions, and yet each has to show its own record as it is.
  func readAtOnce(_ engine: SyncEngine) async {
    let choices = world.choices
    var ids = (0...(1 + choices.below(6))).map { _ in
      RecordID(type: LeagueForm.recordType, key: "l\(choices.number(in: 1...world.shape.keys))")
    }
    ids += world.keys.all.suffix(2).filter { $0.type == LeagueForm.recordType }
    let cancelled = Set(ids.indices.filter { _ in choices.once(in: 6) })
    guard let before = await state(of: ids) else { return }
    let found = await withTaskGroup(of: (Int, Result<Stored<LeagueForm>?, SyncError>).self) { group in
      for (place, id) in ids.enumerated() {
        group.addTask {
          (place, await self.find(id, in: engine, isCancelled: cancelled.contains(place)))
        }
      }
      var found: [Int: Stored<LeagueForm>?] = [:]
      for await case (let place, .success(let form)) in group { found[place] = .some(form) }
      return found
    }
    guard !isDead, let after = await state(of: ids), after.position == before.position else { return }
    if found.count > 1 { world.ledger.saw(.recordsReadAtOnce) }
    for (place, form) in found.sorted(by: { $0.key < $1.key }) {
      let (id, record) = (ids[place], before.records[place])
      // The record may have moved to the key that the remote has given it.
      if record == nil, world.keys.id(of: id) != nil { continue }
      let value = try? record?.payload.decoded(as: LeagueForm.self, key: id.key)
      if form?.value != value || form?.version != record?.version {
        world.ledger.report(
          .freshReads, "\(self) reads \(id) beside others, and not as it is in the store", about: [id])
      }
    }
  }

  private func find(
    _ id: RecordID, in engine: SyncEngine, isCancelled: Bool
  ) async -> Result<Stored<LeagueForm>?, SyncError> {
    await withTaskGroup(of: Result<Stored<LeagueForm>?, SyncError>.self) { group in
      group.addTask {
        do throws(SyncError) {
          return .success(try await engine.records.find(LeagueForm.self, key: id.key))
        } catch {
          return .failure(error)
        }
      }
      if isCancelled { group.cancelAll() }
      // The group has one task.
      return await group.next() ?? .success(nil)
    }
  }

  /// Some records, and the position of the store that has them; `nil` if it cannot be read.
  private func state(of ids: [RecordID]) async -> (records: [Record?], position: StorePosition)? {
    try? await store?.read { (snapshot) throws(SyncError) in
      (try snapshot.records(withIDs: ids), try snapshot.changes(after: nil).position)
    }
  }
}
