/// The definition of a field's column. A reference is stored as the key of a record.
package struct StoredField: Hashable {
  package var name: FieldName
  /// Whether the field is declared as a reference.
  package var isKey: Bool

  /// Creates a definition.
  package init(name: FieldName, isKey: Bool) {
    self.name = name
    self.isKey = isKey
  }
}

extension Entity {
  /// The columns of the declared fields, in the order of ``fields``.
  package var storedFields: [StoredField] { fields.map { storedField($0) } }

  /// The column definition of a field, declared or not.
  package func storedField(_ name: FieldName) -> StoredField {
    StoredField(name: name, isKey: references.contains { $0.field == name })
  }

  /// All columns: the declared fields, and the natural key.
  package var storedColumns: [StoredColumn] {
    storedFields.map { .field($0) } + [StoredNaturalKey(self)].compactMap(\.self).map { .naturalKey($0) }
  }
}

/// Reads the values of some fields from payloads, for records without their fields.
package struct FieldLifter: Sendable {
  private let fields: [StoredField]
  private let plain: [FieldName]
  // A declaration reads keys.
  private let keys: Entity

  /// Creates a reader of some fields.
  package init(_ fields: [StoredField]) {
    self.fields = fields
    plain = fields.filter { !$0.isKey }.map(\.name)
    keys = Entity("keys", references: fields.filter(\.isKey).map { .to("keys", by: $0.name) })
  }

  /// The values in field order; nulls for a payload that is not a JSON object.
  package func values(in payload: Payload) -> [FieldValue] {
    if fields.isEmpty { return [] }
    do {
      var plainValues = plain.isEmpty ? [] : try payload.values(of: plain)[...]
      var keyValues = keys.fields.isEmpty ? [] : try keys.fields(of: payload)[...]
      return fields.map { ($0.isKey ? keyValues.popFirst() : plainValues.popFirst()) ?? .null }
    } catch {
      // The engine never stores such bytes in a record. An app that does has a record without
      // fields.
      return fields.map { _ in .null }
    }
  }
}
