#if SQLite
  import SyncModels
  import SyncPorts
  import Synchronization

  // The edits, in both readings of a damaged log. Either may have the newer one. Of two edits of a
  // record, the one with the later stamp counts, and no edit is left out, because one too many is
  // settled by the next push.
  extension SQLiteSalvage {
    func outbox(after place: SalvagePlace?) async throws(SyncError) -> SalvagePortion {
      if case .key(_, let number) = place { return try await otherEdits(after: Int64(number)) }
      if place == nil { taken.withLock { $0 = [] } }
      var found = try await first.edits(after: place?.number)
      note(&found)
      var portion = SalvagePortion(found)
      guard opening.hasOther else { return portion }
      do throws(SyncError) {
        try await other.run { _ in }
      } catch {
        guard error.isOfDamagedStore else { throw error }
        portion.losses.append(opening.leaveOther())
        return portion
      }
      for (place, entry) in portion.entries.enumerated() {
        guard case .edit(let own) = entry, let found = try await other.edit(of: own.id),
          own.edit.stamp < found.edit.stamp
        else { continue }
        portion.entries[place] = .edit(found)
      }
      portion.next = portion.next ?? Self.otherPlace(nil)
      return portion
    }

    /// Remembers whose edits were found. An index may list one under another number than it has.
    private func note(_ found: inout SalvageTable.Portion) {
      taken.withLock { taken in
        for case .edit(let own) in found.entries { taken.insert(own.id) }
        found.missing.removeAll { loss in
          guard let type = loss.type, let key = loss.key else { return false }
          return taken.contains(RecordID(type: type, key: key))
        }
      }
    }

    private static func otherPlace(_ number: Int64?) -> SalvagePlace {
      .key("other", number.map { "\($0)" } ?? "")
    }

    /// Reads the edits of records that have none in the first reading.
    private func otherEdits(after number: Int64?) async throws(SyncError) -> SalvagePortion {
      let found = try await other.edits(after: number)
      var portion = SalvagePortion(losses: found.losses + found.missing)
      if number == nil { portion.losses += opening.otherLosses }
      portion.next = found.reached.map { Self.otherPlace($0) }
      let taken = taken.withLock(\.self)
      portion.entries = found.entries.filter { entry in
        if case .edit(let edit) = entry { !taken.contains(edit.id) } else { false }
      }
      return portion
    }
  }
#endif
