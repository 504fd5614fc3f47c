#if SQLite
  import SyncModels

  /// A field as a column holds it: what a reference holds is the key of a record, and is stored as such.
  struct StoredField: Hashable {
    var name: FieldName
    /// Whether the field is declared as a reference.
    var isKey: Bool
  }

  extension Entity {
    /// The declared fields as columns hold them, in the order of ``fields``.
    var storedFields: [StoredField] { fields.map { storedField($0) } }

    /// How a field is held, declared or not.
    func storedField(_ name: FieldName) -> StoredField {
      StoredField(name: name, isKey: references.contains { $0.field == name })
    }

    /// Everything that columns hold: the declared fields, and the natural key made of some of them.
    var storedColumns: [StoredColumn] {
      storedFields.map { .field($0) } + [StoredNaturalKey(self)].compactMap(\.self).map { .naturalKey($0) }
    }
  }

  /// Takes the values of some fields out of payloads, where a record does not bring them along.
  struct FieldLifter {
    private let fields: [StoredField]
    private let plain: [FieldName]
    // How a key is read is the declaration's business, so a declaration is what reads keys.
    private let keys: Entity

    init(_ fields: [StoredField]) {
      self.fields = fields
      plain = fields.filter { !$0.isKey }.map(\.name)
      keys = Entity("keys", references: fields.filter(\.isKey).map { .to("keys", by: $0.name) })
    }

    /// The values in the order of the fields; of what is no JSON object, nulls.
    func values(in payload: Payload) -> [FieldValue] {
      if fields.isEmpty { return [] }
      do {
        var plainValues = plain.isEmpty ? [] : try payload.values(of: plain)[...]
        var keyValues = keys.fields.isEmpty ? [] : try keys.fields(of: payload)[...]
        return fields.map { ($0.isKey ? keyValues.popFirst() : plainValues.popFirst()) ?? .null }
      } catch {
        // The engine never stores such bytes as a record's; an app that does so has a record without fields.
        return fields.map { _ in .null }
      }
    }
  }
#endif
