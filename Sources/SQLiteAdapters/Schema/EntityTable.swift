#if SQLite
  import SyncModels

  /// The table of one type, and the statements that read and write its records.
  final class EntityTable {
    /// The declaration for reading and writing records.
    let entity: Entity
    let derived: DerivedColumns

    let name: String
    let put: String
    /// Adds ``rowsAtOnce`` records that have no row yet.
    let addMany: String
    let parametersPerRow: Int32
    /// As ``put``, for a record with a known row.
    let replace: String
    let delete: String
    /// As ``delete``, for a record with a known row.
    let deleteRow: String
    /// As ``deleteRow``, for a pending deletion.
    ///
    /// Natural keys stay, so that their index need not be written yet.
    let deleteRowForNow: String
    /// Clears the natural keys of a deleted record; `nil` for a type without any.
    let forgetKeys: String?
    let touch: String
    /// As ``touch``, for a record with a known row.
    let touchRow: String
    let stateOfCopy: String
    /// The states of ``lookupsAtOnce`` records, in the order of the given ids.
    let statesOfMany: String
    let state: String
    let rowNumber: String
    /// Returns any one row.
    let anyRow: String
    /// The states of the records from an id on, ordered by id.
    let statesFrom: String
    let recordByID: String
    /// The columns of a record, in the order that ``Statement/record(of:)`` reads.
    let recordColumns: String
    /// The index of the payload in ``recordColumns``.
    static let payloadColumn = 6
    /// The index of the first column after ``recordColumns``.
    let columnBehindRecord: Int

    init(_ entity: Entity, _ derived: DerivedColumns) {
      self.entity = entity
      self.derived = derived
      let name = quoted(Self.name(of: entity.type))
      self.name = name
      let given = Self.columnsOfRecord
      let written = given + derived.names
      let columns = written.joined(separator: ", ")
      let row = "(\(written.map { _ in "?" }.joined(separator: ", ")))"
      put = """
        INSERT INTO \(name) (\(columns)) VALUES \(row) ON CONFLICT (id) DO UPDATE SET \
        \(written.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        """
      parametersPerRow = Int32(written.count)
      // A failure rolls back the whole transaction, so SQLite need not keep a statement journal.
      addMany = """
        INSERT OR FAIL INTO \(name) (\(columns)) \
        VALUES \(Array(repeating: row, count: Self.rowsAtOnce).joined(separator: ", "))
        """
      replace = """
        UPDATE \(name) SET \(written.dropFirst().enumerated().map { "\($0.element) = ?\($0.offset + 2)" }.joined(separator: ", ")) \
        WHERE row = ?1
        """
      let noContent = (["schema_version", "payload"] + derived.fields.map(\.name)).map { "\($0) = NULL" }
      let noKeys = derived.naturalKeys.map { "\($0.name) = NULL" }
      let nothingElse = (noContent + noKeys).joined(separator: ", ")
      delete = """
        INSERT INTO \(name) (id, version_epoch, version_sequence, version_modified_at, entity_tag) \
        VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET \
        version_epoch = excluded.version_epoch, version_sequence = excluded.version_sequence, \
        version_modified_at = excluded.version_modified_at, entity_tag = excluded.entity_tag, \
        \(nothingElse)
        """
      let newVersion = """
        UPDATE \(name) SET version_epoch = ?2, version_sequence = ?3, version_modified_at = ?4, entity_tag = ?5
        """
      deleteRow = "\(newVersion), \(nothingElse) WHERE row = ?1"
      deleteRowForNow = "\(newVersion), \(noContent.joined(separator: ", ")) WHERE row = ?1"
      forgetKeys =
        noKeys.isEmpty
        ? nil : "UPDATE \(name) SET \(noKeys.joined(separator: ", ")) WHERE payload IS NULL AND id = ?1"
      touch = "\(newVersion) WHERE payload IS NOT NULL AND id = ?1"
      touchRow = "\(newVersion) WHERE payload IS NOT NULL AND row = ?1"
      let stateColumns = "SELECT row, version_epoch, version_sequence, version_modified_at, payload IS NULL"
      stateOfCopy = "\(stateColumns), payload = ?2 FROM \(name) WHERE id = ?1"
      // One set of cursors serves all lookups. Opening cursors costs as much as two lookups.
      let ids = Array(repeating: "(?)", count: Self.lookupsAtOnce).joined(separator: ", ")
      statesOfMany = """
        SELECT row, version_epoch, version_sequence, version_modified_at, payload \
        FROM (VALUES \(ids)) LEFT JOIN \(name) ON id = column1
        """
      state = "\(stateColumns), 0 FROM \(name) WHERE id = ?1"
      statesFrom = """
        SELECT id, row, version_epoch, version_sequence, version_modified_at, payload FROM \(name) \
        WHERE id >= ? ORDER BY id
        """
      anyRow = "SELECT 1 FROM \(name) LIMIT 1"
      rowNumber = "SELECT row FROM \(name) WHERE id = ?"
      let read = given + (derived.hasAllFields ? derived.readable : [])
      recordColumns = read.joined(separator: ", ")
      columnBehindRecord = read.count
      recordByID = "SELECT \(recordColumns) FROM \(name) WHERE id = ? AND payload IS NOT NULL"
    }

    /// The columns that every record has, in the order of ``put``.
    static let columnsOfRecord = [
      "id", "version_epoch", "version_sequence", "version_modified_at", "entity_tag", "schema_version",
      "payload",
    ]

    /// The number of rows that one statement adds. More gain little.
    static let rowsAtOnce = 16
    /// The number of records that one statement looks up.
    static let lookupsAtOnce = 16

    static func name(of type: RecordType) -> String { "rows_\(type)" }
    static func viewName(of type: RecordType) -> String { "live_\(type)" }
  }
#endif
