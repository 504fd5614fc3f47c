#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels
  import SyncPorts

  /// One check of the file's format, made within one read transaction.
  struct FormatCheck: Sendable {
    let part: StoreFinding.Part
    let type: RecordType?
    /// The subject of the check, for a sentence.
    let subject: String
    /// Returns at most so many findings.
    let findings: @Sendable (Connection, Int) throws(SyncError) -> [StoreFinding]

    init(
      _ part: StoreFinding.Part, type: RecordType? = nil, _ subject: String,
      _ findings: @escaping @Sendable (Connection, Int) throws(SyncError) -> [StoreFinding]
    ) {
      self.part = part
      self.type = type
      self.subject = subject
      self.findings = findings
    }

    /// A check whose statement returns the type and the key of each contradiction.
    init(_ part: StoreFinding.Part, type: RecordType? = nil, _ detail: String, where sql: String) {
      self.init(part, type: type, "the check that no \(detail)") {
        connection, limit throws(SyncError) in
        let statement = try connection.statement("\(sql) LIMIT ?")
        defer { statement.clear() }
        try statement.bind(Int64(limit), at: 1)
        var found: [StoreFinding] = []
        while try statement.step() {
          found.append(
            StoreFinding(
              part, type: type ?? statement.optionalText(0).map { RecordType($0) },
              key: statement.optionalText(1),
              detail))
        }
        return found
      }
    }

    // MARK: The file

    /// The checks that concern no single type.
    static var ofFile: [FormatCheck] { ofPages + [log] + ofTables }

    /// The checks that need no table of the library.
    static var ofPages: [FormatCheck] { [integrity, header] }

    /// The checks of the tables that belong to no single type.
    static var ofTables: [FormatCheck] {
      [tables, additions, state] + counts + withheld + edits + small + sums
    }

    private static let integrity = FormatCheck(.file, "the file") { connection, limit throws(SyncError) in
      var found: [StoreFinding] = []
      let statement = try connection.statement("PRAGMA integrity_check(\(max(1, limit)))")
      defer { statement.reset() }
      while try statement.step() {
        let text = statement.text(0)
        if text != "ok" { found.append(StoreFinding(.file, text)) }
      }
      return found
    }

    /// The header states that the file has a log.
    ///
    /// Otherwise the file cannot be written, or is written without one. A copy that was never
    /// opened has none yet.
    private static let header = FormatCheck(.file, "the file's header") { connection, _ throws(SyncError) in
      var start = [UInt8](repeating: 0, count: 20)
      let code = csqlite_read_file(connection.handle, &start, Int32(start.count), 0)
      guard code == SQLITE_OK else {
        throw SQLiteFailure(code: code).error(during: "reading the file's header")
      }
      if start[18...] == [2, 2] || start[18...] == [1, 1] { return [] }
      return [StoreFinding(.file, "The file's header does not state that the file has a log")]
    }

    private static let log = FormatCheck(.file, "the log") { connection, _ throws(SyncError) in
      guard let path = connection.logPath else { return [] }
      let kept = KeptFiles(of: String(path.dropLast("-wal".count))).existing.map { copy in
        StoreFinding(
          .file,
          "The log was damaged when the store was opened; \(copy) has what SQLite ignored: salvage it, then remove it"
        )
      }
      guard let damage = try LogDamage.find(inLog: path) else { return kept }
      let place = damage.frame == 0 ? "The log's header" : "Frame \(damage.frame) of the log"
      let fault = damage.isUnreadable ? "The log cannot be read" : "\(place) is damaged"
      let hidden = damage.isUnreadable ? "it" : "the transactions behind it"
      let effect =
        damage.isPassed(by: connection)
        ? "the processes that use the store have read \(hidden), and later ones will not"
        : "SQLite ignores \(hidden)"
      return kept + [StoreFinding(.file, "\(fault); \(effect)")]
    }

    private static let tables = FormatCheck(.schema, "the schema") { connection, _ throws(SyncError) in
      let intended = try SchemaReference().objects()
      let stored = try connection.schemaObjects()
      return intended.sorted { $0.key < $1.key }.compactMap { name, sql in
        guard let text = stored[name] else { return StoreFinding(.schema, key: name, "it is missing") }
        return text == sql ? nil : StoreFinding(.schema, key: name, "it is not as the library creates it")
      }
    }

    /// Triggers and unique indexes change what a write does; other additions do not.
    private static let additions = FormatCheck(.schema, "what was added to the schema") {
      connection, limit throws(SyncError) in
      let intended = try SchemaReference().objects()
      var found: [StoreFinding] = []
      let sql = """
        SELECT name, lower(tbl_name) FROM sqlite_schema WHERE type = 'trigger' OR type = 'index'
          AND sql LIKE 'CREATE UNIQUE %' AND NOT (tbl_name LIKE 'rows_%' AND name = tbl_name || '.id')
        """
      try connection.forEachRow(sql) { row throws(SyncError) in
        let (name, table) = (row.text(0), row.text(1))
        let isOurs = intended[table] != nil || table.hasPrefix("rows_")
        guard isOurs, intended[name] == nil, found.count < limit else { return }
        found.append(StoreFinding(.schema, key: name, "the library has not created it"))
      }
      return found
    }

    // MARK: Tables

    private static let counts = [
      FormatCheck(
        .counts, "the count of withheld changes is not their number",
        where: """
          SELECT type, NULL FROM (
            SELECT type, kind, -entries AS difference FROM set_aside_counts
            UNION ALL SELECT type, kind, count(*) FROM set_aside GROUP BY type, kind)
          GROUP BY type, kind HAVING sum(difference) <> 0 OR typeof(sum(difference)) <> 'integer'
          """),
      FormatCheck(
        .counts, "the count of pending edits is not their number",
        where: """
          SELECT type, NULL FROM (
            SELECT type, -entries AS difference FROM outbox_counts
            UNION ALL SELECT type, count(*) FROM outbox GROUP BY type)
          GROUP BY type HAVING sum(difference) <> 0 OR typeof(sum(difference)) <> 'integer'
          """),
    ]

    private static let withheld = [
      FormatCheck(
        .withheld, "a withheld change has a malformed column",
        where: """
          SELECT CASE typeof(type) WHEN 'text' THEN type END, CASE typeof(record_key) WHEN 'text' THEN record_key END
          FROM set_aside WHERE
            kind NOT IN ('parked', 'held', 'incompatible', 'quarantined', 'staged', 'missing', 'hidden')
            OR change NOT IN ('upsert', 'tombstone', 'poison')
            OR typeof(type) <> 'text' OR type = '' OR typeof(record_type) <> 'text' OR record_type <> type
            OR NOT (typeof(slot) = 'text' AND (slot IS record_key OR change = 'poison') AND slot <> ''
              OR typeof(slot) = 'blob' AND length(slot) = 8)
            OR typeof(reason) <> 'text' OR typeof(waits_for) <> 'text'
            OR typeof(pass) <> 'integer' OR typeof(fence) <> 'integer' OR typeof(since) <> 'integer'
            OR typeof(entity_tag) NOT IN ('text', 'null')
            OR change <> 'poison' AND (typeof(version_epoch) <> 'integer' OR typeof(version_sequence) <> 'integer'
              OR typeof(version_modified_at) <> 'integer' OR typeof(record_key) <> 'text')
            OR (change = 'tombstone') <> (payload IS NULL) OR typeof(payload) NOT IN ('blob', 'null')
            OR (change = 'upsert') <> (schema_version IS NOT NULL) OR typeof(schema_version) NOT IN ('integer', 'null')
          """),
      FormatCheck(
        .withheld, "a note of what a parked copy waits for has no parked copy",
        where: """
          SELECT found.type, NULL FROM waiting AS found LEFT JOIN set_aside AS own ON own.entry = found.entry
            AND own.type = found.type AND own.slot IS found.slot AND own.kind = 'parked'
            AND found.is_bytes = (typeof(own.slot) = 'blob')
          WHERE own.entry IS NULL
          """),
      FormatCheck(
        .withheld, "a note of a withheld copy's reference has no such copy",
        where: """
          SELECT found.type, NULL FROM set_aside_references AS found LEFT JOIN set_aside AS own
            ON own.entry = found.entry AND own.type = found.type AND own.slot IS found.slot
            AND own.kind <> 'staged' AND found.is_bytes = (typeof(own.slot) = 'blob')
          WHERE own.entry IS NULL
          """),
      FormatCheck(.withheld, "the notes of what withheld changes depend on") {
        connection, limit throws(SyncError) in
        try connection.findingsOfDependencies(limit: limit)
      },
    ]

    private static let edits = [
      FormatCheck(
        .outbox, "an edit has a malformed column",
        where: """
          SELECT CASE typeof(type) WHEN 'text' THEN type END, CASE typeof(id) WHEN 'text' THEN id END
          FROM outbox WHERE
            typeof(type) <> 'text' OR type = '' OR typeof(id) <> 'text' OR id = ''
            OR typeof(physical) <> 'integer' OR typeof(counter) <> 'integer' OR counter NOT BETWEEN 0 AND 4294967295
            OR typeof(replica) <> 'text' OR base NOT IN ('none', 'copy', 'deleted')
            OR typeof(schema_version) NOT IN ('integer', 'null') OR (payload IS NULL) <> (schema_version IS NULL)
            OR typeof(payload) NOT IN ('blob', 'null')
            OR (base = 'copy') <> (base_payload IS NOT NULL) OR (base = 'copy') <> (base_schema_version IS NOT NULL)
            OR (base = 'none') <> (base_epoch IS NULL) OR (base = 'none') <> (base_sequence IS NULL)
            OR (base = 'none') <> (base_modified_at IS NULL) OR typeof(base_payload) NOT IN ('blob', 'null')
            OR typeof(base_epoch) NOT IN ('integer', 'null') OR typeof(base_sequence) NOT IN ('integer', 'null')
            OR typeof(base_modified_at) NOT IN ('integer', 'null')
            OR typeof(base_entity_tag) NOT IN ('text', 'null') OR typeof(base_schema_version) NOT IN ('integer', 'null')
            OR sent NOT IN ('nothing', 'edit', 'other') OR (sent = 'other') <> (sent_physical IS NOT NULL)
            OR (sent = 'other') <> (sent_replica IS NOT NULL) OR (sent_payload IS NULL) <> (sent_schema_version IS NULL)
            OR sent <> 'other' AND sent_payload IS NOT NULL
            OR state NOT IN ('waiting', 'postponed', 'refused') OR (state = 'waiting') <> (state_at IS NULL)
            OR (state = 'refused') <> (refusal IS NOT NULL) OR typeof(state_at) NOT IN ('integer', 'null')
            OR typeof(attempts) <> 'integer' OR attempts < 0
            OR (rebuilt_pass IS NULL) <> (rebuilt_physical IS NULL) OR (rebuilt_pass IS NULL) <> (rebuilt_replica IS NULL)
            OR typeof(rebuilt_pass) NOT IN ('integer', 'null') OR typeof(leaves) NOT IN ('text', 'null')
          """),
      FormatCheck(
        .outbox, "an edit is not as the library has written it",
        where: RowChecksum.differing(
          "CASE typeof(type) WHEN 'text' THEN type END, CASE typeof(id) WHEN 'text' THEN id END",
          from: "outbox", OutboxRows.checksum)),
      FormatCheck(
        .outbox, "a note of a record that an edit leaves has no such edit",
        where: """
          SELECT found.type, found.id FROM outbox_leaves AS found LEFT JOIN outbox AS own
            ON own.type = found.type AND own.id = found.id AND own.leaves IS NOT NULL
          WHERE own.entry IS NULL
          """),
      FormatCheck(
        .conflicts, "a conflict has a malformed column",
        where: """
          SELECT CASE typeof(type) WHEN 'text' THEN type END, CASE typeof(id) WHEN 'text' THEN id END
          FROM conflicts WHERE
            typeof(type) <> 'text' OR type = '' OR typeof(id) <> 'text' OR id = '' OR number < 1
            OR winner NOT IN ('local', 'remote', 'merged') OR remote NOT IN ('upsert', 'tombstone')
            OR typeof(settled_at) <> 'integer' OR typeof(reason) <> 'text'
            OR typeof(local_physical) <> 'integer' OR local_counter NOT BETWEEN 0 AND 4294967295
            OR typeof(local_counter) <> 'integer' OR typeof(local_replica) <> 'text'
            OR typeof(remote_epoch) <> 'integer' OR typeof(remote_sequence) <> 'integer'
            OR typeof(remote_modified_at) <> 'integer' OR typeof(remote_physical) <> 'integer'
            OR typeof(remote_counter) <> 'integer' OR remote_counter NOT BETWEEN 0 AND 4294967295
            OR typeof(remote_replica) <> 'text'
            OR (local_payload IS NULL) <> (local_schema_version IS NULL)
            OR (remote = 'upsert') <> (remote_payload IS NOT NULL) OR (remote = 'upsert') <> (remote_schema_version IS NOT NULL)
            OR typeof(local_payload) NOT IN ('blob', 'null') OR typeof(remote_payload) NOT IN ('blob', 'null')
            OR typeof(base_payload) NOT IN ('blob', 'null')
          """),
    ]

    private static let state = FormatCheck(.values, "the observed changes") {
      connection, _ throws(SyncError) in
      var found: [StoreFinding] = []
      let gaps = try connection.value(
        "SELECT count(*) <> coalesce(max(position) - min(position) + 1, 0) OR coalesce(min(position), 1) < 1 FROM changes"
      )
      if gaps != 0 { found.append(StoreFinding(.values, "the positions of observed changes have gaps")) }
      try connection.forEachRow("SELECT records FROM changes WHERE records IS NOT NULL") {
        row throws(SyncError) in
        _ = try ObservedChanges.records(in: row.text(0))
      }
      return found
    }

    private static let small = [
      FormatCheck(
        .values, "a kept value has a malformed column",
        where:
          "SELECT NULL, NULL FROM state WHERE typeof(key) <> 'text' OR key = '' OR typeof(value) <> 'blob'"),
      FormatCheck(
        .values, "the marks have a chunk of another size or of no rows",
        where: """
          SELECT CASE typeof(type) WHEN 'text' THEN type END, NULL FROM marks
          WHERE typeof(bits) <> 'blob' OR length(bits) <> 512 OR typeof(chunk) <> 'integer' OR chunk < 0
            OR type NOT IN (SELECT type FROM entities)
          """),
      FormatCheck(
        .values, "the store's name or its catalog number is malformed",
        where: """
          SELECT NULL, NULL FROM (SELECT 1) WHERE
            (SELECT count(*) FROM meta WHERE key = 'identity' AND typeof(value) = 'text' AND length(value) = 32
              AND value NOT GLOB '*[^0-9a-f]*') <> 1
            OR (SELECT count(*) FROM meta WHERE key = 'catalog' AND typeof(value) = 'integer'
              AND value BETWEEN 0 AND \(StoredNumbers.counts.upperBound)) <> 1
            OR EXISTS (SELECT 1 FROM meta WHERE key NOT IN ('identity', 'catalog', 'moved', '\(TableSums.key)') AND key NOT GLOB 'references/*')
          """),
      FormatCheck(
        .values, "the lease is not one row of numbers",
        where: """
          SELECT NULL, NULL FROM (SELECT 1) WHERE (SELECT count(*) FROM lease WHERE id = 1
            AND typeof(fence) = 'integer' AND fence BETWEEN 0 AND \(StoredNumbers.counts.upperBound)
            AND has_file_lock IN (0, 1) AND typeof(holder) IN ('text', 'null')
            AND typeof(expires_at) IN ('integer', 'null')) <> 1
          """),
      FormatCheck(
        .values, "the lease ends in more than a month",
        where: """
          SELECT NULL, NULL FROM lease
          WHERE expires_at > (CAST(strftime('%s', 'now') AS INTEGER) + 31 * 86400) * 1000000
          """),
      FormatCheck(
        .conflicts, "no number is left for the next conflict",
        where: """
          SELECT NULL, NULL FROM sqlite_sequence WHERE name = 'conflicts'
            AND (typeof(seq) <> 'integer' OR seq NOT BETWEEN 0 AND \(StoredNumbers.counts.upperBound))
          """),
      FormatCheck(
        .schema, "a declared field has a malformed column",
        where: """
          SELECT CASE typeof(type) WHEN 'text' THEN type END, NULL FROM fields
          WHERE typeof(name) <> 'text' OR is_key NOT IN (0, 1, 2) OR is_declared NOT IN (0, 1)
            OR typeof(column_name) <> 'text' OR column_name NOT GLOB 'f[0-9]*' OR substr(column_name, 2) GLOB '*[^0-9]*'
            OR typeof(filled_through) NOT IN ('integer', 'null')
            OR filled_through < 0 AND filled_through <> \(Int64.min) OR type NOT IN (SELECT type FROM entities)
          """),
    ]
  }

  extension Connection {
    /// Compares each withheld change with the number of its notes.
    ///
    /// That every note exists is found by reading them; that there are no others, by their number.
    fileprivate func findingsOfDependencies(limit: Int) throws(SyncError) -> [StoreFinding] {
      var found: [StoreFinding] = []
      let sql = """
        SELECT type, record_key, kind, waits_for, (SELECT count(*) FROM waiting WHERE entry = set_aside.entry)
        FROM set_aside
        """
      try forEachRow(sql) { row throws(SyncError) in
        let waitsFor = try decoded(
          [RecordID].self, from: row.text(3), what: "references of a withheld change")
        let expected = row.holds("parked", in: 2) ? Set(waitsFor).count : 0
        guard row.count(4) != expected, found.count < limit else { return }
        found.append(
          StoreFinding(
            .withheld, type: RecordType(row.text(0)), key: row.optionalText(1),
            "the notes of what it waits for are not what it says"))
      }
      let leaves = """
        SELECT type, id, leaves, (SELECT count(*) FROM outbox_leaves AS found
          WHERE found.type = outbox.type AND found.id = outbox.id) FROM outbox WHERE leaves IS NOT NULL
        """
      try forEachRow(leaves) { row throws(SyncError) in
        let records = try decoded([RecordID].self, from: row.text(2), what: "records that an edit leaves")
        guard row.count(3) != Set(records).count, found.count < limit else { return }
        found.append(
          StoreFinding(
            .outbox, type: RecordType(row.text(0)), key: row.text(1),
            "the notes of the records that the edit leaves are not what it says"))
      }
      return found
    }
  }
#endif
