#if SQLite
  import SyncModels

  /// The statements that create the table, the indexes and the view of one type.
  struct TypeObjects {
    let entity: Entity
    private let name: String
    private let table: String

    init(_ entity: Entity) {
      self.entity = entity
      name = EntityTable.name(of: entity.type)
      table = quoted(name)
    }

    /// Create the table without columns for fields, and the indexes that every table has.
    var creation: [String] {
      [
        """
        CREATE TABLE IF NOT EXISTS \(table) (
          row INTEGER PRIMARY KEY, id TEXT NOT NULL, version_epoch INTEGER NOT NULL,
          version_sequence INTEGER NOT NULL, version_modified_at INTEGER NOT NULL, entity_tag TEXT, schema_version INTEGER, payload BLOB)
        """,
        "CREATE UNIQUE INDEX IF NOT EXISTS \(quoted(name + ".id")) ON \(table) (id)",
        // The column is always null in those rows. It lets the index alone count deletions.
        """
        CREATE INDEX IF NOT EXISTS \(quoted(name + ".deleted")) ON \(table) (payload) WHERE payload IS NULL
        """,
      ]
    }

    /// Adds a column for a field or a natural key.
    func addition(of column: String) -> String { "ALTER TABLE \(table) ADD COLUMN \(column)" }

    /// Create the indexes of declared fields, and drop those that are not needed.
    func indexes(_ declared: [StoredColumn: String]) -> [String] {
      let names = Set(entity.indexes + entity.references.filter(\.isOrdered).map(\.field))
      let indexed = Set(names.map { entity.storedField($0) })
      return declared.map { field, column in
        let index: String? =
          switch field {
          case .field(let field):
            indexed.contains(field) ? "(\(column), id) WHERE payload IS NOT NULL" : nil
          // A deleted record has no natural key. A condition on the payload would prevent an
          // index-only scan. Ids would make the index three times as large, and few records share a
          // key.
          case .naturalKey: "(\(column)) WHERE \(column) IS NOT NULL"
          }
        return index.map { "CREATE INDEX IF NOT EXISTS \(indexName(column)) ON \(table) \($0)" }
          ?? removalOfIndex(over: column)
      }
    }

    /// Drops the index over a column.
    func removalOfIndex(over column: String) -> String { "DROP INDEX IF EXISTS \(indexName(column))" }

    private func indexName(_ column: String) -> String { quoted("\(name).\(column)") }

    /// Create a view for people: the live rows, with fields under their names.
    func view(_ declared: [StoredColumn: String]) -> [String] {
      let fields = entity.storedFields.compactMap { field in
        declared[.field(field)].map { column in
          """
          CASE \(column) WHEN x'00' THEN 'false' WHEN x'01' THEN 'true' WHEN x'02' THEN '[...]' \
          ELSE \(column) END AS \(quoted(field.name.rawValue))
          """
        }
      }
      let columns = ["id"] + fields + ["CAST(payload AS TEXT) AS payload"]
      let view = quoted(EntityTable.viewName(of: entity.type))
      return [
        "DROP VIEW IF EXISTS \(view)",
        """
        CREATE VIEW \(view) AS SELECT \(columns.joined(separator: ", "))
        FROM \(table) WHERE payload IS NOT NULL
        """,
      ]
    }
  }
#endif
