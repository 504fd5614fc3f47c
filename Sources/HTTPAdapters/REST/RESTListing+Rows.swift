import SyncModels
import SyncPorts

/// What the rows of a page tell.
extension RESTListing {
  /// The records of the type. A record of a delta that is none any more has gone.
  func selected(
    _ changes: [RecordChange], _ isSelected: [Bool], in coverage: RecordPage.Coverage
  ) -> [RecordChange] {
    zip(changes, isSelected).compactMap { change, isSelected in
      if isSelected { return change }
      guard coverage == .delta else { return nil }
      switch change {
      case .upsert(let record): return .tombstone(Tombstone(id: record.id, version: record.version))
      // It often has no other member than its key, so nothing tells whether it was one.
      case .tombstone: return change
      case .malformed: return nil
      }
    }
  }

  /// Tells of records whose version is a time that has not come.
  func tellOfVersionsAhead(
    _ changes: [RecordChange], _ rows: [ArraySlice<UInt8>], _ reader: RESTRecordReader
  ) {
    guard collection.version != nil else { return }
    for (change, row) in zip(changes, rows) {
      guard case .upsert(let record) = change, record.version.isUndated, reader.isAhead(row) else {
        continue
      }
      return session.notices.tell(
        "\(collection.place("version")) of \(record.id.key) is in the future, and counts as none.")
    }
  }

  /// Looks at those records of a delta that lack their version.
  ///
  /// Some APIs show of a changed record its key and what has changed alone.
  ///
  /// - Returns: Their places.
  func complete(
    _ changes: inout [RecordChange], _ rows: [ArraySlice<UInt8>]
  ) async throws(SyncError) -> Set<Int> {
    guard let version = collection.version else { return [] }
    let records = RESTRecords(requests: requests, entity: request.entity, session: session)
    var parts: Set<Int> = []
    for (index, row) in rows.enumerated() where RESTRecordReader.lacks(version, row) {
      guard case .upsert(let record) = changes[index] else { continue }
      guard collection.item != nil else {
        session.notices.tell(
          "\(record.id.key) lacks \(version) (\(collection.place("version"))) in a delta, and may be a part of the record. With \(collection.place("item")) it would be looked up."
        )
        break
      }
      parts.insert(index)
      do throws(SyncError) {
        if let whole = try await patiently({ () throws(SyncError) in
          try await records.look(at: record.id.key, during: operation)
        }) {
          changes[index] = whole.change
          continue
        }
      } catch {
        // After a record's own failure, the list's other records come all the same.
        let isOfTheRecord = [.permissionDenied, .inconsistentData, .invalidResponse].contains(error.code)
        guard isOfTheRecord else { throw error }
      }
      changes[index] = .malformed(
        MalformedRecord(
          type: record.id.type, key: record.id.key, bytes: record.payload.detached(),
          reason: "lacks \(version) in a delta, so it is a part of the record, which cannot be read"))
    }
    return parts
  }

  /// Makes a request of a page again after each short pause that the server asks for.
  private func patiently<R>(_ request: () async throws(SyncError) -> R) async throws(SyncError) -> R {
    var patience = RESTPatience()
    while true {
      do throws(SyncError) {
        return try await request()
      } catch {
        guard await patience.waitsOut(error, by: session.clock) else { throw error }
      }
    }
  }

  /// Refuses a first page in which a pointer leads to nothing in every record.
  ///
  /// The pointer is wrong then. On later pages, malformed records come in their places.
  func refuseUnreadable(
    _ rows: [ArraySlice<UInt8>], _ changes: [RecordChange]
  ) throws(SyncError) {
    guard rows.count > 1 else { return }
    if changes.allSatisfy({ if case .malformed = $0 { true } else { false } }),
      case .malformed(let first)? = changes.first
    {
      throw SyncError(
        .inconsistentData, during: operation,
        "None of \(Counted(rows.count, "record")) can be read. In the first one, \(first.reason).")
    }
    if let version = collection.version, rows.allSatisfy({ RESTRecordReader.lacks(version, $0) }) {
      throw SyncError(
        .inconsistentData, during: operation,
        "\(version) (\(collection.place("version"))) leads to nothing in any of \(Counted(rows.count, "record"))."
      )
    }
  }
}

extension RESTBookmark.Ends {
  /// The name of an end: the key, or what stands for the bytes of a record without a key.
  static func name(of change: RecordChange?, _ row: ArraySlice<UInt8>?) -> String? {
    change?.id?.key ?? row.map { namelessPrefix + TokenFields.digest(of: $0) }
  }

  /// The ends of a page; `nil` if the page is empty.
  init?(_ changes: [RecordChange], _ rows: [ArraySlice<UInt8>]) {
    guard let first = Self.name(of: changes.first, rows.first),
      let last = Self.name(of: changes.last, rows.last)
    else { return nil }
    let content = [rows.first, rows.last].compactMap(\.self).joined()
    self.init(
      first: first, last: last, count: changes.count, content: TokenFields.digest(of: content))
  }
}
