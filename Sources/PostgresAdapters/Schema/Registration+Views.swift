#if Postgres
  import SyncModels

  extension Registration {
    /// Creates a view for people: the live rows, with fields under their names.
    ///
    /// A view that loses no column is replaced, which leaves the rights on it and what others made
    /// of it. PostgreSQL then appends the new columns.
    func makeView(_ entity: Entity) throws(SyncError) {
      let known = try knownColumns(of: entity)
      var columns: [(name: String, sql: String)] = [
        ("id", "shown(id || rest)"), ("payload", "shown(payload)"),
      ]
      var taken = Set(columns.map(\.name))
      for field in entity.storedFields {
        guard let column = known[.field(field)]?.column else { continue }
        // PostgreSQL cuts long names off, and refuses a name that occurs twice.
        var name = StoredName.of(field.name.rawValue)
        while !taken.insert(name).inserted { name = StoredName.of(name + "_") }
        columns.insert(
          (name, "shown(substr(\(column), CASE get_byte(\(column), 0) WHEN 1 THEN 12 ELSE 2 END))"),
          at: columns.count - 1)
      }
      let view = StoredName.quoted(EntityTable.viewName(of: entity.type))
      var former = try viewColumns(of: entity)
      let lost = former.filter { !taken.contains($0) }
      if !lost.isEmpty {
        try demandNoDependents(of: entity, without: lost)
        execute("DROP VIEW \(view)")
        former = []
      }
      let sql = Dictionary(uniqueKeysWithValues: columns.map { ($0.name, $0.sql) })
      let names = former + columns.map(\.name).filter { !former.contains($0) }
      let list = names.compactMap { name in sql[name].map { "\($0) AS \(StoredName.quoted(name))" } }
      execute(
        "CREATE OR REPLACE VIEW \(view) AS SELECT \(list.joined(separator: ", ")) FROM \(table(entity)) WHERE payload IS NOT NULL"
      )
    }

    private func viewColumns(of entity: Entity) throws(SyncError) -> [String] {
      try query(
        """
        SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass($2::text) AND $1::text <> '' \
        AND attnum > 0 AND NOT attisdropped ORDER BY attnum
        """, of: entity
      ) {
        $0.add(text: StoredName.quoted(EntityTable.viewName(of: entity.type)))
      }.map { $0.text(0) }
    }

    /// Refuses to make a view anew that others depend on.
    ///
    /// PostgreSQL would refuse it without their names.
    private func demandNoDependents(of entity: Entity, without columns: [String]) throws(SyncError) {
      let view = EntityTable.viewName(of: entity.type)
      let dependents = try query(
        """
        SELECT DISTINCT coalesce(r.ev_class::regclass::text, pg_describe_object(d.classid, d.objid, d.objsubid)) \
        FROM pg_depend AS d LEFT JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid \
        WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = to_regclass($2::text) AND $1::text <> '' \
        AND d.deptype = 'n' AND r.ev_class IS DISTINCT FROM d.refobjid ORDER BY 1
        """, of: entity
      ) {
        $0.add(text: StoredName.quoted(view))
      }.map { $0.text(0) }
      if dependents.isEmpty { return }
      throw SyncError(
        .storeFailure, during: "registering \(entity.type)",
        """
        The view \(view) loses \(columns.joined(separator: ", ")), and others depend on it: \
        \(dependents.joined(separator: ", ")). Drop them, register again, and then make them anew.
        """)
    }
  }
#endif
