import SyncCore
import SyncModels

extension World {
  /// Edits a record as the app, or inserts it.
  func write(_ id: RecordID, by engine: SyncEngine) async throws(SyncError) {
    pairs.edited(id)
    let (choices, keys) = (choices, shape.keys)
    if let records = records {
      return try await engine.edits.perform { (batch) throws(SyncError) in
        try records.edit(id, in: &batch, WorldRandom(choices, keys: keys, of: records))
      }
    }
    let areCirclesPossible = shape.hazards.contains(.circles)
    let references: [(field: FieldName, target: RecordType)] =
      switch id.type.rawValue {
      // Under a key of the remote's, no number tells which league is an earlier one.
      case "leagues": shape.assignsKeys && !areCirclesPossible ? [] : [("parent", "leagues")]
      case "teams": [("league", "leagues")]
      default: [("home", "teams"), ("away", "teams")]
      }
    try await engine.edits.perform { (batch) throws(SyncError) in
      let isNew = try batch.record(id) == nil
      // At a remote that gives keys, a new record has one that no other client knows.
      let id = shape.assignsKeys && isNew && choices.below(4) > 0 ? self.keys.new(of: id.type) : id
      var values: [(FieldName, String)] = [("name", "\(choices.number(in: 11...13))")]
      if isNew { values.append(("id", "\"\(id.key)\"")) }
      for (field, target) in references where isNew || choices.once(in: 3) {
        let key =
          shape.assignsKeys
          ? try shownKey(of: target, &batch) : try numberedKey(of: target, for: field, from: id, &batch)
        values.append((field, key.map { "\"\($0)\"" } ?? "null"))
      }
      if id.type == "teams", choices.once(in: 4) { values.append(("code", "\(choices.number(in: 1...5))")) }
      if id.type == "leagues", let field = shape.immutableField, isNew || choices.once(in: 4) {
        values.append((field, "\(choices.number(in: 1...4))"))
      }
      if let badge = try badge(for: id, &batch) { values.append((Badge.field, badge)) }
      try batch.set(id) { (fields) throws(SyncError) in
        for (field, value) in values { fields[field] = Array(value.utf8)[...] }
      }
    }
  }

  /// The key of any record that the app sees, or none.
  private func shownKey(of type: RecordType, _ batch: inout EditBatch) throws(SyncError) -> String? {
    let records = try batch.records(Query(type))
    let place = choices.below(records.count + 1)
    return place == 0 ? nil : records[place - 1].id.key
  }

  /// One of the world's keys, if the app sees a record of it.
  private func numberedKey(
    of type: RecordType, for field: FieldName, from id: RecordID, _ batch: inout EditBatch
  ) throws(SyncError) -> String? {
    var number = choices.number(in: 1...shape.keys)
    // A league refers to an earlier one, unless circles are possible.
    if field == "parent", !shape.hazards.contains(.circles) {
      number = min(number, max(1, (Int(id.key.dropFirst()) ?? 1) - 1))
    }
    let key = "\(type.rawValue.prefix(1))\(number)"
    return try batch.record(RecordID(type: type, key: key)) == nil ? nil : key
  }

  /// A record for the app to edit: one of the world's, or one that the app has made.
  ///
  /// The app names it as it did when it made it.
  func anyRecordOfTheApp() -> RecordID {
    guard shape.assignsKeys, case let made = keys.made, !made.isEmpty, choices.below(2) == 1 else {
      return edits.anyRecord()
    }
    let id = made[choices.below(made.count)]
    if keys.id(of: id) != nil { ledger.saw(.formerKeyEdited) }
    return id
  }

  /// Sometimes a badge for a team without one, perhaps that of a team which is deleted with this edit,
  /// or keeps it.
  private func badge(for id: RecordID, _ batch: inout EditBatch) throws(SyncError) -> String? {
    guard shape.hazards.contains(.uniqueValues), id.type == "teams", choices.once(in: 2),
      try batch.record(id).flatMap({ Badge(of: id, in: $0.payload) }) == nil
    else { return nil }
    let badge = "\(choices.number(in: 1...3))"
    for holder in try batch.records(Query("teams")) where holder.id != id {
      guard let held = Badge(of: holder.id, in: holder.payload), held.json == badge else { continue }
      guard !choices.once(in: 3) else { return nil }
      if choices.once(in: 2) { try batch.delete(holder.id) }
    }
    return badge
  }
}
