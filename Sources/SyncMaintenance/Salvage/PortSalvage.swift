import SyncCore
public import SyncModels
public import SyncPorts

/// Reads any store through its port, for a salvage.
///
/// Where a portion cannot be read, it reads entry by entry. What follows an unreadable entry of the
/// same list is lost, because the port has no way past it; a store may have a `SalvageSource` of
/// its own that has.
public struct PortSalvage: SalvageSource {
  private let store: any LocalStore

  /// Creates a source that reads a store.
  public init(_ store: any LocalStore) {
    self.store = store
  }

  /// Returns the next entries of a part.
  public func portion(
    of part: SalvagePart, after place: SalvagePlace?
  ) async throws(SyncError) -> SalvagePortion {
    var limit = VerificationWalk.limit
    while true {
      let size = limit
      do throws(SyncError) {
        return try await store.read { (snapshot) throws(SyncError) in
          try Self.read(part, after: place, limit: size, in: snapshot)
        }
      } catch {
        guard error.isOfDamage else { throw error }
        guard limit > 1 else {
          let reason = "what follows cannot be read: \(error.message)"
          return SalvagePortion(losses: [part.loss(place, reason)], next: try await behind(place, of: part))
        }
        limit = limit > 16 ? 16 : 1
      }
    }
  }

  private static func read(
    _ part: SalvagePart, after place: SalvagePlace?, limit: Int, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> SalvagePortion {
    switch part {
    case .declarations:
      return SalvagePortion(try snapshot.registeredEntities().map { .declaration($0) })
    case .outbox:
      let types = try snapshot.registeredEntities().map(\.type).sorted()
      guard let type = place?.type ?? types.first else { return SalvagePortion() }
      let entries = try snapshot.portion(outbox: type, after: place?.stamp, limit: limit)
      let next = entries.last.map { SalvagePlace.stamp(type, $0.edit.stamp) }
      return SalvagePortion(
        entries.map { .edit($0) }, next: next ?? types.first { $0 > type }.map { .stamp($0, .zero) })
    case .conflicts:
      let conflicts = try oldestConflicts(after: place?.row ?? 0, limit: limit, in: snapshot)
      return SalvagePortion(conflicts.map { .conflict($0) }, next: conflicts.last.map { .row($0.number) })
    case .values:
      var portion = SalvagePortion()
      let keys = try snapshot.portion(keys: "", after: place?.key, limit: limit)
      for key in keys {
        guard let bytes = try snapshot.value(forKey: key) else { continue }
        portion.entries.append(.value(key: key, bytes: bytes))
      }
      portion.next = keys.last.map { .key("", $0) }
      return portion
    case .records(let entity):
      let records = try snapshot.portion(
        of: Query(entity.type, afterKey: place?.key, limit: limit))
      return SalvagePortion(
        records.map { .record($0) }, next: records.last.map { .key(entity.type, $0.id.key) })
    }
  }

  /// Returns the conflicts with the least numbers after a number, in ascending order.
  ///
  /// The port lists the newest first. A range of numbers is narrowed until a portion holds all of
  /// it, and widened where it has none, because numbers may have gaps of any size.
  private static func oldestConflicts(
    after number: Int64, limit: Int, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [Conflict] {
    guard let newest = try snapshot.conflicts(nil, before: nil, limit: 1).first?.number else { return [] }
    var (lower, width) = (max(0, number), Int64(limit))
    while lower < newest {
      let (sum, isBeyond) = lower.addingReportingOverflow(width)
      let upper = isBeyond ? newest : min(sum, newest)
      let found = try snapshot.portion(
        conflicts: nil, before: upper == .max ? nil : upper + 1, limit: limit
      ).filter { $0.number > lower }
      if found.isEmpty {
        (lower, width) = (upper, width > .max / 2 ? width : 2 * width)
      } else if upper - lower <= Int64(limit) {
        return found.reversed()
      } else {
        width = max(Int64(limit), (upper - lower) / 2)
      }
    }
    return []
  }

  /// The place of the next list after one that cannot be read further.
  private func behind(
    _ place: SalvagePlace?, of part: SalvagePart
  ) async throws(SyncError) -> SalvagePlace? {
    guard case .outbox = part else { return nil }
    do throws(SyncError) {
      return try await store.read { (snapshot) throws(SyncError) in
        let types = try snapshot.registeredEntities().map(\.type).sorted()
        let type = place?.type ?? types.first
        return types.first { type.map($0.follows) ?? false }.map { .stamp($0, .zero) }
      }
    } catch {
      guard error.isOfDamage else { throw error }
      return nil
    }
  }
}

extension RecordType {
  fileprivate func follows(_ other: RecordType) -> Bool { other < self }
}

extension EditStamp {
  /// A stamp before that of every edit.
  fileprivate static let zero = EditStamp(physical: Timestamp(microseconds: .min), counter: 0, replica: "")
}

extension SalvagePlace {
  fileprivate var type: RecordType? {
    switch self {
    case .key(let type, _), .stamp(let type, _): type
    case .row: nil
    }
  }
  fileprivate var key: String? { if case .key(_, let key) = self { key } else { nil } }
  fileprivate var row: Int64? { if case .row(let row) = self { row } else { nil } }
  fileprivate var stamp: EditStamp? { if case .stamp(_, let stamp) = self { stamp } else { nil } }
}

extension SalvagePart {
  /// The loss of what follows a place.
  fileprivate func loss(_ place: SalvagePlace?, _ reason: String) -> SalvageLoss {
    switch self {
    case .declarations: SalvageLoss(.declarations, reason)
    case .outbox: SalvageLoss(.outbox, type: place?.type, reason)
    case .conflicts: SalvageLoss(.conflicts, reason)
    case .values: SalvageLoss(.values, key: place?.key, reason)
    case .records(let entity): SalvageLoss(.records, type: entity.type, key: place?.key, reason)
    }
  }
}
