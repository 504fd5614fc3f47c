#if SQLite
  import SyncModels

  extension Statement {
    /// Reads the record from a row of ``EntityTable/recordColumns``.
    func record(of table: EntityTable) -> Record {
      let payload = Payload(bytes(EntityTable.payloadColumn))
      let fields =
        table.derived.hasAllFields
        ? fields(of: table) : FieldLifter(table.entity.storedFields).values(in: payload)
      return record(of: table, payload: payload, fields: fields)
    }

    /// As ``record(of:)``, with a given payload and given fields.
    func record(of table: EntityTable, payload: Payload, fields: [FieldValue]) -> Record {
      Record(
        id: RecordID(type: table.entity.type, key: text(0)), version: version(1), entityTag: optionalText(4),
        schemaVersion: Int(integer(5)), payload: payload, fields: fields)
    }

    /// Reads the fields from the columns that follow the payload.
    func fields(of table: EntityTable) -> [FieldValue] {
      let columns = EntityTable.payloadColumn + 1..<table.columnBehindRecord
      var fields: [FieldValue] = []
      // `map` would also ask for the array's size, which costs more for few columns.
      fields.reserveCapacity(columns.count)
      for column in columns { fields.append(fieldValue(column)) }
      return fields
    }

    /// Reads a version from three columns.
    func version(_ column: Int) -> Version {
      Version(
        epoch: integer(column), sequence: integer(column + 1),
        modifiedAt: Timestamp(microseconds: integer(column + 2)))
    }
  }
#endif
