#if Postgres
  import CanonicalSyncDatabases
  import SyncModels

  /// The columns and statements of one type's table.
  struct EntityTable: Sendable {
    let entity: Entity
    let derived: DerivedColumns
    let digest: PayloadDigest
    private let fieldLifter: FieldLifter

    /// The table's name, as an identifier.
    let name: String
    /// The columns of a record, in the order that ``ResultRow/record(of:from:)`` reads.
    let recordColumns: String
    /// The same columns, one by one.
    private let columns: [String]
    /// The number of the columns of a record.
    var recordColumnCount: Int { columns.count }
    /// The condition for rows that the current or last listing has written.
    let isWritten: String
    /// The condition for rows that have a mark in `marks`, where few rows are read.
    let isNoted: String
    /// The same condition, where all rows are read.
    let isNotedInScan: String

    let insert: String
    let update: String
    let states: String
    let byID: String
    private let alone: (one: String, several: String)
    let touch: String
    let delete: String

    static let payloadColumn = 7
    /// The condition that joins a row `r` with a given key `k`.
    static let sameKey = "r.id = k.id AND r.rest = k.rest"

    init(_ entity: Entity, table: String, _ derived: DerivedColumns, _ digest: PayloadDigest) {
      self.entity = entity
      self.derived = derived
      self.digest = digest
      name = StoredName.quoted(table)
      fieldLifter = FieldLifter(entity.storedFields)
      let given = [
        "id", "rest", "version_epoch", "version_sequence", "version_modified_at", "entity_tag",
        "schema_version", "payload",
      ]
      let types = ["bytea", "bytea", "bigint", "bigint", "bigint", "bytea", "bigint", "bytea", "bigint"]
      let made = derived.names
      let all = given + ["digest"] + made
      let read = given + (derived.hasAllFields ? derived.readable : [])
      columns = read.map { "r.\($0)" }
      recordColumns = columns.joined(separator: ", ")
      let type = entity.type.rawValue.split(separator: "'").joined()
      let round = "(SELECT round FROM entities WHERE type = '\(type)')"
      isWritten = "r.round = \(round)"
      let noted = """
        (SELECT get_bit(m.bits, r.row & \(MarkBitmap.rowsPerChunk - 1)) FROM marks AS m \
        WHERE m.type = '\(type)' AND m.chunk = r.row >> \(MarkBitmap.chunkShift)) = 1
        """
      isNoted = "coalesce(\(noted), false)"
      // All chunks as one value, which is read once; a chunk without marks has no row. The value
      // would be too large for a few rows with great numbers, whose bits are looked up instead.
      let last = "(SELECT max(chunk) FROM marks WHERE type = '\(type)')"
      isNotedInScan = """
        coalesce(CASE WHEN \(last) >= \(MarkBitmaps.mostChunksInScan) THEN \(noted) WHEN r.row < (\(last) + 1) * \(MarkBitmap.rowsPerChunk) THEN get_bit((SELECT string_agg(coalesce( \
        (SELECT m.bits FROM marks AS m WHERE m.type = '\(type)' AND m.chunk = c), \
        decode(repeat('00', \(MarkBitmap.chunkSize)), 'hex')), '' ORDER BY c) FROM generate_series(0, \(last)) AS c), \
        r.row) = 1 END, false)
        """
      let arrays = (types + made.map { _ in "bytea" }).enumerated().map {
        "$\($0.offset + 1)::\($0.element)[]"
      }
      let conflict = "ON CONFLICT (id, \(StoredKey.digest(of: "rest"))) DO UPDATE SET"
      let names = all.joined(separator: ", ")
      let copies =
        "unnest(\(arrays.joined(separator: ", ")), $\(all.count + 1)::boolean[]) AS k(\(names), is_marked)"
      insert = """
        INSERT INTO \(name) (\(names), round) SELECT \(names), CASE WHEN is_marked THEN \(round) ELSE 0 END FROM \(copies)
        """
      update = """
        UPDATE \(name) AS r SET \(all.dropFirst(2).map { "\($0) = k.\($0)" }.joined(separator: ", ")), \
        round = CASE WHEN k.is_marked THEN \(round) ELSE r.round END FROM \(copies) WHERE \(Self.sameKey)
        """
      states = """
        SELECT r.id, r.rest, r.row, r.version_epoch, r.version_sequence, r.version_modified_at, \
        r.payload IS NULL, \(isWritten), r.digest, \
        CASE WHEN r.digest IS NULL AND octet_length(r.payload) BETWEEN $3::bigint AND $4::bigint THEN r.payload END \
        FROM \(name) AS r WHERE r.id = ANY ($1::bytea[]) AND (r.rest = ''::bytea OR r.rest = ANY ($2::bytea[]))
        """
      // Each by the index, also before the server knows that an id has one row.
      let found = """
        CROSS JOIN LATERAL \
        (SELECT * FROM \(name) AS r WHERE \(Self.sameKey) AND r.payload IS NOT NULL LIMIT 1) AS r
        """
      byID = """
        SELECT \(recordColumns), k.n FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS k(id, rest, n) \
        \(found)
        """
      let header = "(\(StoreHeader.sql)) AS h"
      alone = (
        """
        SELECT h.*, \(recordColumns) FROM \(header) LEFT JOIN \(name) AS r \
        ON r.id = $2::bytea AND r.rest = $3::bytea AND r.payload IS NOT NULL
        """,
        StoreHeader.sql(
          writer: 1, above: columns + ["k.n"],
          """
          FROM unnest($2::bytea[], $3::bytea[]) WITH ORDINALITY AS k(id, rest, n) \
          \(found)
          """)
      )
      let versions = "unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bytea[])"
      touch = """
        UPDATE \(name) AS r SET version_epoch = k.epoch, version_sequence = k.sequence, \
        version_modified_at = k.modified_at, entity_tag = k.tag \
        FROM \(versions) AS k(id, rest, epoch, sequence, modified_at, tag) \
        WHERE \(Self.sameKey) AND r.payload IS NOT NULL
        """
      let version = ["version_epoch", "version_sequence", "version_modified_at", "entity_tag"]
      delete = """
        INSERT INTO \(name) (id, rest, \(version.joined(separator: ", "))) SELECT * FROM \(versions) \(conflict) \
        \((version.map { "\($0) = excluded.\($0)" } + (["schema_version", "payload", "digest"] + made).map { "\($0) = NULL" })
          .joined(separator: ", "))
        """
    }

    /// Reads the store's header, and in the columns behind it the records of some ids of the type.
    ///
    /// For several ids, a record's place follows, from one on. The header then has a row of its own.
    /// Without a record these columns are null.
    func alone(_ ids: [RecordID], writer: [UInt8]) -> Statement {
      Statement(ids.count == 1 ? alone.one : alone.several) {
        $0.add(bytes: writer)
        if ids.count == 1 { $0.add(StoredKey(ids[0].key)) } else { $0.add(keys: ids, at: Array(ids.indices)) }
      }
    }

    /// Reads the store's header, and in rows of their own behind its columns what a query selects.
    ///
    /// - Parameters:
    ///   - place: The number of the parameter with the store's writer.
    ///   - rest: What follows the columns in the query.
    func alone(_ rest: String, writer place: Int) -> String {
      StoreHeader.sql(writer: place, above: columns, rest)
    }

    static func name(of type: RecordType) -> String { StoredName.of(type.rawValue, prefix: "rows_") }
    static func viewName(of type: RecordType) -> String { StoredName.of(type.rawValue, prefix: "live_") }

    /// The filled column of a field.
    func column(of field: FieldName) -> String? { derived.column(of: field).map { "r.\($0)" } }

    /// The parameters of ``insert`` or ``update`` for some records, and whether each gets a mark.
    func parameters(for copies: [Record], marking marks: [Bool]) -> Parameters {
      var batch = [ColumnArray](.bytes, .bytes, .int64, .int64, .int64, .bytes, .int64, .bytes, .int64)
      batch += derived.names.map { _ in ColumnArray(.bytes) }
      batch[Self.payloadColumn].reserve(copies.reduce(0) { $0 + $1.payload.bytes.count + 4 })
      for copy in copies {
        batch.append(key: copy.id.key, at: 0)
        batch.append(copy.version, tag: copy.entityTag, at: 2)
        batch[6].append(Int64(copy.schemaVersion))
        batch[Self.payloadColumn].append(copy.payload.bytes)
        batch[Self.payloadColumn + 1].append(digest.of(copy.payload.bytes))
        var place = Self.payloadColumn + 2
        for value in derived.values(of: copy) {
          batch.append(field: value, at: place)
          place += 1
        }
        for key in derived.naturalKeys(of: copy) {
          batch[place].append(key)
          place += 1
        }
      }
      var column = ColumnArray(.boolean)
      for isMarked in marks { column.append(isMarked) }
      var parameters = Parameters()
      parameters.add(batch)
      parameters.add(column)
      return parameters
    }

    /// The declared fields of a payload.
    func fields(of payload: Payload) -> [FieldValue] { fieldLifter.values(in: payload) }
  }

  extension [ColumnArray] {
    /// Appends a version and an entity tag to four columns.
    mutating func append(_ version: Version, tag: String?, at place: Int) {
      self[place].append(version.epoch)
      self[place + 1].append(version.sequence)
      self[place + 2].append(version.modifiedAt.microseconds)
      self[place + 3].append(tag)
    }
  }

  extension ResultRow {
    /// Reads the record from the columns of ``EntityTable/recordColumns``.
    ///
    /// - Parameter start: The first of them.
    func record(of table: EntityTable, from start: Int = 0) -> Record {
      let payloadColumn = start + EntityTable.payloadColumn
      let payload = Payload(bytes(payloadColumn))
      var fields: [FieldValue] = []
      if table.derived.hasAllFields {
        fields.reserveCapacity(table.entity.fields.count)
        for column in payloadColumn + 1..<start + table.recordColumnCount { fields.append(field(column)) }
      } else {
        fields = table.fields(of: payload)
      }
      return Record(
        id: RecordID(type: table.entity.type, key: key(start)), version: version(start + 2),
        entityTag: optionalText(start + 5), schemaVersion: Int(integer(start + 6)), payload: payload,
        fields: fields)
    }
  }
#endif
