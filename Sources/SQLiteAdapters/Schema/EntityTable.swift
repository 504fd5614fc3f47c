#if SQLite
  import SyncModels

  /// How the records of one type lie in the file, and the statements that read and write them.
  final class EntityTable {
    /// A column that holds the values of one declared field.
    struct Column {
      var field: StoredField
      var name: String
      /// Whether every row has its value; while one is being filled in, only writers use it.
      var isFilled: Bool
    }

    /// A column that holds natural keys.
    struct NaturalKeyColumn {
      var key: StoredNaturalKey
      var name: String
      /// Whether every row has its key.
      var isFilled: Bool
    }

    /// The declaration that records are read and written by.
    let entity: Entity
    let columns: [Column]
    let naturalKeys: [NaturalKeyColumn]
    /// The filled column with the natural keys of ``entity``.
    let naturalKeyColumn: String?
    private let spelling: NaturalKeySpelling?
    // For a column that only another process's declaration has, what takes its keys out of payloads.
    private let naturalKeyLifters: [NaturalKeyLifter?]
    /// For each column, the place of its value among a record's fields; `nil` for a field that only another
    /// process's declaration has, whose value is lifted from the payload.
    let sources: [Int?]
    /// Whether every column's value stands among a record's fields.
    let takesFieldsAsGiven: Bool
    /// Whether a record's fields can be read from columns rather than from the payload.
    let hasAllFields: Bool
    private let lifter: FieldLifter

    let name: String
    let put: String
    /// Adds ``rowsAtOnce`` records that are known to have no row.
    let addMany: String
    let parametersPerRow: Int32
    /// As ``put``, for a record whose row is known.
    let replace: String
    let delete: String
    /// As ``delete``, for a record whose row is known.
    let deleteRow: String
    /// As ``deleteRow``, for a deletion that is pending: natural keys stay, so that their index need not be written for now.
    let deleteRowForNow: String
    let touch: String
    /// As ``touch``, for a record whose row is known.
    let touchRow: String
    let stateOfCopy: String
    /// The states of as many records as ``lookupsAtOnce``, in the order in which their ids are given.
    let statesOfMany: String
    let state: String
    let rowNumber: String
    /// Gives a row if there is any.
    let anyRow: String
    /// The states of the records from an id on, in the order of ids.
    let statesFrom: String
    let recordByID: String
    /// The columns of a record, in the order in which ``Statement/record(of:)`` reads them.
    let recordColumns: String
    /// Where the payload stands among ``recordColumns``.
    static let payloadColumn: Int32 = 6
    /// Where a column stands that follows ``recordColumns``.
    let columnBehindRecord: Int32

    init(_ entity: Entity, columns: [Column], naturalKeys: [NaturalKeyColumn]) {
      self.entity = entity
      self.columns = columns
      self.naturalKeys = naturalKeys
      let ownKey = StoredNaturalKey(entity)
      naturalKeyColumn = naturalKeys.first { $0.key == ownKey && $0.isFilled }?.name
      naturalKeyLifters = naturalKeys.map { $0.key == ownKey ? nil : NaturalKeyLifter($0.key) }
      spelling = NaturalKeySpelling(entity)
      let fields = entity.storedFields
      sources = columns.map { column in fields.firstIndex(of: column.field) }
      lifter = FieldLifter(columns.map(\.field))
      takesFieldsAsGiven = sources.allSatisfy { $0 != nil }
      let readable = fields.compactMap { field in
        columns.first { $0.field == field && $0.isFilled }?.name
      }
      hasAllFields = readable.count == entity.fields.count
      let name = quoted(Self.name(of: entity.type))
      self.name = name
      let given = [
        "id", "version_epoch", "version_sequence", "version_modified_at", "entity_tag", "schema_version",
        "payload",
      ]
      let made = columns.map(\.name) + naturalKeys.map(\.name)
      let all = given + made
      put = """
        INSERT INTO \(name) (\(all.joined(separator: ", "))) \
        VALUES (\(all.map { _ in "?" }.joined(separator: ", "))) ON CONFLICT (id) DO UPDATE SET \
        \(all.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        """
      let row = "(\(all.map { _ in "?" }.joined(separator: ", ")))"
      parametersPerRow = Int32(all.count)
      // Whatever fails takes the whole transaction back, so SQLite need not keep the pages of each statement for itself.
      addMany = """
        INSERT OR FAIL INTO \(name) (\(all.joined(separator: ", "))) \
        VALUES \(Array(repeating: row, count: Self.rowsAtOnce).joined(separator: ", "))
        """
      replace = """
        UPDATE \(name) SET \(all.dropFirst().enumerated().map { "\($0.element) = ?\($0.offset + 2)" }.joined(separator: ", ")) \
        WHERE row = ?1
        """
      let noContent = (["schema_version", "payload"] + columns.map(\.name)).map { "\($0) = NULL" }
      let nothingElse = (noContent + naturalKeys.map { "\($0.name) = NULL" }).joined(separator: ", ")
      delete = """
        INSERT INTO \(name) (id, version_epoch, version_sequence, version_modified_at, entity_tag) VALUES (?, ?, ?, ?, ?) \
        ON CONFLICT (id) DO UPDATE SET version_epoch = excluded.version_epoch, version_sequence = excluded.version_sequence, \
        version_modified_at = excluded.version_modified_at, entity_tag = excluded.entity_tag, \(nothingElse)
        """
      let newVersion = """
        UPDATE \(name) SET version_epoch = ?2, version_sequence = ?3, version_modified_at = ?4, entity_tag = ?5
        """
      deleteRow = "\(newVersion), \(nothingElse) WHERE row = ?1"
      deleteRowForNow = "\(newVersion), \(noContent.joined(separator: ", ")) WHERE row = ?1"
      touch = "\(newVersion) WHERE payload IS NOT NULL AND id = ?1"
      touchRow = "\(newVersion) WHERE payload IS NOT NULL AND row = ?1"
      let stateColumns = "SELECT row, version_epoch, version_sequence, version_modified_at, payload IS NULL"
      stateOfCopy = "\(stateColumns), payload = ?2 FROM \(name) WHERE id = ?1"
      // Cursors are opened once for all of them, which costs as much as two lookups.
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
      let read = given + (hasAllFields ? readable : [])
      recordColumns = read.joined(separator: ", ")
      columnBehindRecord = Int32(read.count)
      recordByID = "SELECT \(recordColumns) FROM \(name) WHERE id = ? AND payload IS NOT NULL"
    }

    /// How many rows one statement adds: more gain little.
    static let rowsAtOnce = 16
    /// How many records one statement looks up.
    static let lookupsAtOnce = 16

    static func name(of type: RecordType) -> String { "rows_\(type)" }
    static func viewName(of type: RecordType) -> String { "live_\(type)" }

    /// The filled column of a field.
    func column(of field: FieldName) -> String? {
      let field = entity.storedField(field)
      return columns.first { $0.field == field && $0.isFilled }?.name
    }

    /// The values of the columns for a record, in their order.
    func values(of record: Record) -> [FieldValue] {
      let lifted = takesFieldsAsGiven ? [] : lifter.values(in: record.payload)
      return sources.enumerated().map { place, source in
        guard let source else { return lifted[place] }
        return source < record.fields.count ? record.fields[source] : .null
      }
    }

    /// What the columns of natural keys hold for a record, in their order.
    func naturalKeys(of record: Record) -> [String?] {
      naturalKeyLifters.map { lifter in
        if let lifter { lifter.key(of: record.payload) } else { spelling?.key(of: record.fields) }
      }
    }
  }
#endif
