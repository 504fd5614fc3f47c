#if SQLite
  import SyncModels
  import SyncPorts
  import Synchronization

  // The edits, in both readings of a damaged log. Either may have the newer one, or one that the
  // damage has spared. Of two edits of a record one counts, and no edit is left out, because one
  // too many is settled by the next push.
  extension SQLiteSalvage {
    func outbox(after place: SalvagePlace?) async throws(SyncError) -> SalvagePortion {
      if case .key(_, let number) = place { return try await otherEdits(after: Int64(number)) }
      if place == nil { taken.withLock { $0 = Taken() } }
      let found = try await first.edits(after: place?.number)
      var portion = SalvagePortion(found.entries, losses: found.losses, next: found.reached.map { .row($0) })
      note(found)
      if opening.hasOther {
        do throws(SyncError) {
          try await other.run { _ in }
        } catch {
          guard error.isOfDamagedStore else { throw error }
          portion.losses.append(opening.leaveOther())
        }
      }
      guard opening.hasOther else {
        if portion.next == nil { portion.losses += missing }
        return portion
      }
      let ids = portion.entries.compactMap { entry in
        if case .edit(let edit) = entry { edit.id } else { nil }
      }
      let others = try await other.edits(of: ids)
      for (place, entry) in portion.entries.enumerated() {
        guard case .edit(let edit) = entry, let another = others[edit.id] else { continue }
        let own = EditReading(entry: edit, isAltered: found.altered.contains(entry))
        guard own.yields(to: another) else { continue }
        portion.entries[place] = .edit(another.entry)
        let loss = SalvageLoss.alteration(of: edit.id)
        if own.isAltered { portion.losses.removeAll { $0 == loss } }
        if another.isAltered { portion.losses.append(loss) }
      }
      portion.next = portion.next ?? Self.otherPlace(nil)
      return portion
    }

    /// The edits that were found in any reading, and those that only an index lists.
    struct Taken {
      var ids: Set<RecordID> = []
      var missing: [SalvageLoss] = []
    }

    private func note(_ found: SalvageTable.Portion) {
      taken.withLock { taken in
        for case .edit(let edit) in found.entries { taken.ids.insert(edit.id) }
        taken.missing += found.missing
      }
    }

    /// The edits that an index lists, and no reading has.
    private var missing: [SalvageLoss] {
      taken.withLock { taken in
        var named: Set<RecordID> = []
        return taken.missing.filter { loss in
          guard let type = loss.type, let key = loss.key else { return true }
          let id = RecordID(type: type, key: key)
          return !taken.ids.contains(id) && named.insert(id).inserted
        }
      }
    }

    private static func otherPlace(_ number: Int64?) -> SalvagePlace {
      .key("other", number.map { "\($0)" } ?? "")
    }

    /// Reads the edits of records that have none in the first reading.
    private func otherEdits(after number: Int64?) async throws(SyncError) -> SalvagePortion {
      let found = try await other.edits(after: number)
      let taken = taken.withLock(\.ids)
      note(found)
      var portion = SalvagePortion(losses: found.losses, next: found.reached.map { Self.otherPlace($0) })
      if number == nil { portion.losses += opening.otherLosses }
      if portion.next == nil { portion.losses += missing }
      portion.entries = found.entries.filter { entry in
        if case .edit(let edit) = entry { !taken.contains(edit.id) } else { false }
      }
      return portion
    }
  }
#endif
