import SyncModels

extension CleanupPolicy.Rule {
  /// Returns the condition by which the store selects records that may be old enough.
  func condition(at now: Timestamp) -> Condition? {
    switch selection {
    case .matching(let condition): return condition
    case .olderThan(_, .modification): return nil
    case .olderThan(let age, .date(let field)): return .less(field, .string((now - age).date))
    case .olderThan(let age, .seconds(let field)):
      return .less(field, .double(Double((now - age).microseconds) / 1e6))
    case .olderThan(let age, .milliseconds(let field)):
      return .less(field, .double(Double((now - age).microseconds) / 1e3))
    }
  }

  /// Whether a record that satisfies ``condition(at:)`` has an age, and is old enough.
  func covers(_ record: Record, at now: Timestamp) -> Bool {
    guard case .olderThan(let age, let measure) = selection else { return true }
    switch measure {
    case .modification:
      let instant = record.version.modifiedAt
      return instant > Timestamp(microseconds: 0) && instant < now - age
    case .date(let field):
      if case .string(let text) = record.value(of: field) { return text.beginsWithCivilDay }
      return false
    case .seconds(let field), .milliseconds(let field):
      return record.value(of: field) != .integer(0)
    }
  }

  /// Whether the rule hides a record, without a query of the store.
  func hides(_ record: Record, of entity: Entity, at now: Timestamp) -> Bool {
    guard covers(record, at: now) else { return false }
    guard let condition = condition(at: now) else { return true }
    let declared = (try? entity.fields(of: record.payload)) ?? []
    return condition.isSatisfied { field in
      if let index = entity.fields.firstIndex(of: field) {
        return index < declared.count ? declared[index] : .null
      }
      return record.value(of: field)
    }
  }
}

extension Record {
  /// Returns the value of a member of the payload, declared or not.
  fileprivate func value(of field: FieldName) -> FieldValue {
    // A payload that is not a JSON object has no members.
    (try? payload.values(of: [field]))?.first ?? .null
  }
}
