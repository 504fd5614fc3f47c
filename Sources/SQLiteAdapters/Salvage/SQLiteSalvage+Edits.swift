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
      if opening.hasOther {
        do throws(SyncError) {
          try await other.run { _ in }
        } catch {
          guard error.isOfDamagedStore else { throw error }
          portion.losses.append(opening.leaveOther())
        }
      }
      guard opening.hasOther else {
        note(portion.entries, found.missing)
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
        if own.isAltered, Mark(edit) == Mark(another.entry) { portion.losses.removeAll { $0 == loss } }
        if another.isAltered { portion.losses.append(loss) }
      }
      note(portion.entries, found.missing)
      portion.next = portion.next ?? Self.otherPlace(nil)
      return portion
    }

    /// The edits that were found in any reading, and those that only an index lists.
    struct Taken {
      /// The mark of the kept edit, by record.
      var edits: [RecordID: Mark] = [:]
      var missing: [SalvageLoss] = []
    }

    /// What tells a record's edits apart.
    ///
    /// A sync that merges an edit with a newer base keeps its stamp.
    struct Mark: Equatable {
      let stamp: EditStamp
      let base: Version?

      init(_ entry: OutboxEntry) { (stamp, base) = (entry.edit.stamp, entry.base.version) }
    }

    private func note(_ entries: [SalvagedEntry], _ missing: [SalvageLoss]) {
      taken.withLock { taken in
        for case .edit(let edit) in entries where taken.edits[edit.id] == nil {
          taken.edits[edit.id] = Mark(edit)
        }
        taken.missing += missing
      }
    }

    /// The edits that an index lists, and no reading has.
    private var missing: [SalvageLoss] {
      taken.withLock { taken in
        var named: Set<RecordID> = []
        return taken.missing.filter { loss in
          guard let type = loss.type, let key = loss.key else { return true }
          let id = RecordID(type: type, key: key)
          return taken.edits[id] == nil && named.insert(id).inserted
        }
      }
    }

    private static func otherPlace(_ number: Int64?) -> SalvagePlace {
      .key("other", number.map { "\($0)" } ?? "")
    }

    /// Reads the edits of records that have none in the first reading.
    private func otherEdits(after number: Int64?) async throws(SyncError) -> SalvagePortion {
      let found = try await other.edits(after: number)
      let taken = taken.withLock(\.edits)
      note(found.entries, found.missing)
      var portion = SalvagePortion(losses: found.losses, next: found.reached.map { Self.otherPlace($0) })
      if number == nil { portion.losses += opening.otherLosses }
      if portion.next == nil { portion.losses += missing }
      portion.entries = found.entries.filter { entry in
        if case .edit(let edit) = entry { taken[edit.id] == nil } else { false }
      }
      // If both readings have an edit, its loss is listed already, or the intact copy was kept.
      var (known, others): (Set<RecordID>, Set<RecordID>) = ([], [])
      for case .edit(let edit) in found.altered {
        if taken[edit.id] == Mark(edit) { known.insert(edit.id) } else { others.insert(edit.id) }
      }
      let settled = Set(known.subtracting(others).map { SalvageLoss.alteration(of: $0) })
      portion.losses.removeAll { settled.contains($0) }
      return portion
    }
  }
#endif
