/// The columns of one type's table that are derived from payloads.
///
/// A database store keeps declared fields and natural keys in columns, so that it can search them.
/// A type may have columns of other declarations too, which another version of the app made in the
/// same store. Every writer fills all of them.
package struct DerivedColumns: Sendable {
  /// A column with the values of a field, or with natural keys.
  package struct Column<Origin: Sendable>: Sendable {
    /// The field or the natural key.
    package let origin: Origin
    package let name: String
    /// Whether every row has its value. Until then, only writers use the column.
    package let isFilled: Bool

    package init(_ origin: Origin, name: String, isFilled: Bool) {
      self.origin = origin
      self.name = name
      self.isFilled = isFilled
    }
  }

  package let fields: [Column<StoredField>]
  package let naturalKeys: [Column<StoredNaturalKey>]
  /// The filled column with the natural keys of the declaration.
  package let naturalKeyColumn: String?
  /// For each column of a field, the index of its value among a record's fields.
  ///
  /// It is `nil` for a field that only another declaration has. The value is then read from the
  /// payload.
  package let sources: [Int?]
  /// Whether a record's fields contain the values of all columns.
  package let takesFieldsAsGiven: Bool
  /// The names of the declared fields' filled columns, in the order of a record's fields.
  package let readable: [String]
  /// Whether columns contain all fields of a record. Its payload is then not read.
  package let hasAllFields: Bool

  private let entity: Entity
  private let lifter: FieldLifter
  private let spelling: NaturalKeySpelling?
  /// The readers of the keys of other declarations, in the order of the columns.
  private let naturalKeyLifters: [NaturalKeyLifter?]

  /// Relates a table's columns to a declaration.
  package init(of entity: Entity, fields: [Column<StoredField>], naturalKeys: [Column<StoredNaturalKey>]) {
    self.entity = entity
    self.fields = fields
    self.naturalKeys = naturalKeys
    let ownKey = StoredNaturalKey(entity)
    naturalKeyColumn = naturalKeys.first { $0.origin == ownKey && $0.isFilled }?.name
    naturalKeyLifters = naturalKeys.map { $0.origin == ownKey ? nil : NaturalKeyLifter($0.origin) }
    spelling = NaturalKeySpelling(entity)
    let declared = entity.storedFields
    sources = fields.map { column in declared.firstIndex(of: column.origin) }
    lifter = FieldLifter(fields.map(\.origin))
    takesFieldsAsGiven = sources.allSatisfy { $0 != nil }
    readable = declared.compactMap { field in
      fields.first { $0.origin == field && $0.isFilled }?.name
    }
    hasAllFields = readable.count == declared.count
  }

  /// The names of all columns, those of fields first.
  package var names: [String] { fields.map(\.name) + naturalKeys.map(\.name) }

  /// The filled column of a declared field.
  package func column(of field: FieldName) -> String? {
    let field = entity.storedField(field)
    return fields.first { $0.origin == field && $0.isFilled }?.name
  }

  /// The values of the columns of fields for a record, in their order.
  package func values(of record: Record) -> [FieldValue] {
    let lifted = takesFieldsAsGiven ? [] : lifter.values(in: record.payload)
    return sources.enumerated().map { place, source in
      guard let source else { return lifted[place] }
      return source < record.fields.count ? record.fields[source] : .null
    }
  }

  /// The values of the natural-key columns for a record, in their order.
  package func naturalKeys(of record: Record) -> [String?] {
    naturalKeyLifters.map { lifter in
      if let lifter { lifter.key(of: record.payload) } else { spelling?.key(of: record.fields) }
    }
  }
}
