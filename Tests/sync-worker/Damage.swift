#if SQLite && (Curl || !os(Linux))
  import CanonicalSync
  import Foundation
  import InMemoryAdapters
  import SQLiteAdapters

  /// The damage to a store's files, determined by one number.
  struct Damage {
    private var random: SplitMix64

    init(seed: UInt64) {
      random = SplitMix64(seed: seed)
      // Adjacent seeds give similar first numbers.
      _ = random.next()
    }

    /// Makes a damaged copy of a store, and returns a description of the damage.
    mutating func copy(_ template: StoreFiles, to path: String) async throws -> String {
      if random.once(in: 10) {
        var log = [UInt8](template.log)
        let story = spoilLog(&log)
        try template.inUse.write(to: URL(fileURLWithPath: path))
        try Data(log).write(to: URL(fileURLWithPath: path + "-wal"))
        return "log: \(story)"
      }
      var bytes = [UInt8](template.closed)
      let pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
      let kind = random.number(below: 10)
      let story: String
      switch kind {
      case 0, 1: story = flip(&bytes, in: 0..<bytes.count, times: 1 + random.number(below: 40))
      case 2: story = flip(&bytes, in: 0..<100, times: 1 + random.number(below: 3))
      case 3:
        let count = random.number(below: bytes.count)
        bytes.removeLast(bytes.count - (random.once(in: 2) ? count : count / pageSize * pageSize))
        story = "cut to \(bytes.count)"
      case 4: story = spoilPage(&bytes, pageSize)
      case 5: story = swell(&bytes)
      default: story = "tampered with"
      }
      let url = URL(fileURLWithPath: path)
      try Data(bytes).write(to: url)
      var told = story
      if kind > 5 {
        for statement in (0...random.number(below: 3)).map({ _ in statement() }) {
          told += "; \(statement)"
          let store = try await DamagedWorld.opened(path)
          // A statement that SQLite refuses changes nothing.
          try? await store.execute(statement)
          await store.close()
        }
      }
      if random.once(in: 25) {
        try Data((0..<8192).map { _ in UInt8(truncatingIfNeeded: random.next()) }).write(
          to: URL(fileURLWithPath: path + "-wal"))
        told += "; a log of noise"
      }
      return told
    }

    // MARK: Bytes

    private mutating func flip(_ bytes: inout [UInt8], in range: Range<Int>, times: Int) -> String {
      for _ in 0..<times {
        bytes[range.lowerBound + random.number(below: range.count)] ^= 1 << UInt8(random.number(below: 8))
      }
      return "\(times) bits flipped in \(range)"
    }

    private mutating func spoilPage(_ bytes: inout [UInt8], _ size: Int) -> String {
      let pages = bytes.count / size
      let (page, other) = (random.number(below: pages), random.number(below: pages))
      let range = page * size..<(page + 1) * size
      switch random.number(below: 3) {
      case 0:
        for place in range { bytes[place] = 0 }
        return "page \(page) zeroed"
      case 1:
        for place in range { bytes[place] = UInt8(truncatingIfNeeded: random.next()) }
        return "page \(page) made noise"
      default:
        bytes.replaceSubrange(range, with: Array(bytes[other * size..<(other + 1) * size]))
        return "page \(page) replaced by page \(other)"
      }
    }

    /// Damages a log without its last tenth.
    ///
    /// Damage in its last transaction looks like a power failure in it.
    private mutating func spoilLog(_ bytes: inout [UInt8]) -> String {
      let range = 0..<bytes.count / 10 * 9
      switch random.number(below: 4) {
      case 0: return flip(&bytes, in: 0..<32, times: 1)
      case 1, 2: return flip(&bytes, in: range, times: 1 + random.number(below: 20))
      default:
        let sector = 512 * random.number(below: range.count / 512)
        for place in sector..<sector + 512 { bytes[place] = 0 }
        return "512 bytes from \(sector) zeroed"
      }
    }

    /// Replaces runs of digits by nines, to enlarge numbers in JSON.
    private mutating func swell(_ bytes: inout [UInt8]) -> String {
      var count = 0
      for _ in 0..<2000 where count < 30 {
        var place = random.number(below: bytes.count)
        guard (48...57).contains(bytes[place]) else { continue }
        count += 1
        while place < bytes.count, (48...57).contains(bytes[place]) {
          bytes[place] = 57
          place += 1
        }
      }
      return "\(count) numbers swollen"
    }

    // MARK: Rows

    private static let columns: [(table: String, columns: [String])] = [
      ("meta", ["value", "key"]), ("state", ["value", "key"]), ("changes", ["records", "position"]),
      ("entities", ["declaration", "type"]),
      ("fields", ["name", "is_key", "column_name", "is_declared", "filled_through"]),
      ("marks", ["bits", "chunk"]), ("lease", ["fence", "holder", "has_file_lock", "expires_at"]),
      (
        "set_aside",
        [
          "type", "slot", "kind", "change", "record_type", "record_key", "version_epoch", "version_sequence",
          "version_modified_at", "schema_version", "reason", "waits_for", "pass", "fence", "since", "payload",
        ]
      ),
      ("waiting", ["target_type", "target_key", "is_bytes", "slot", "entry"]),
      ("set_aside_references", ["target_type", "target_key", "is_bytes", "slot", "entry"]),
      ("set_aside_counts", ["kind", "entries"]),
      (
        "outbox",
        [
          "id", "physical", "counter", "replica", "schema_version", "base", "base_epoch", "base_sequence",
          "sent", "sent_physical", "state", "state_at", "refusal", "attempts", "payload", "base_payload",
          "rebuilt_pass", "rebuilt_physical", "leaves",
        ]
      ),
      ("outbox_counts", ["entries"]),
      (
        "conflicts",
        ["number", "id", "winner", "settled_at", "local_counter", "remote_physical", "remote_payload"]
      ),
      (
        "rows_teams",
        [
          "id", "row", "version_epoch", "version_sequence", "version_modified_at", "entity_tag",
          "schema_version", "payload", "f0", "f1",
        ]
      ),
      ("rows_games", ["id", "version_sequence", "payload", "f0", "f1"]),
      ("rows_venues", ["id", "version_epoch", "payload"]),
    ]

    private static let values = [
      "9223372036854775807", "-9223372036854775808", "-1", "0", "4294967296", "1e308", "NULL", "''", "'x'",
      "x''", "x'ff'", "CAST(x'61ff62' AS TEXT)", "x'0102030405060708'", "'[]'", "'{}'", "zeroblob(5000)",
    ]

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
      elements[random.number(below: elements.count)]
    }

    private mutating func statement() -> String {
      let (table, columns) = pick(Self.columns)
      let (column, value) = (pick(columns), pick(Self.values))
      let place = random.number(below: 40)
      switch random.number(below: 12) {
      case 0: return "DELETE FROM \(table)"
      case 1:
        return
          "DELETE FROM \(table) WHERE \(column) = (SELECT \(column) FROM \(table) LIMIT 1 OFFSET \(place))"
      case 2: return "DROP TABLE \(table)"
      case 3, 4, 5:
        let kind = random.once(in: 2) ? "GLOB" : "NOT GLOB"
        let number = pick(["9223372036854775807", "-9223372036854775808", "-1", "1e999", "'x'", "NULL"])
        return """
          UPDATE state SET value = json_set(CAST(value AS TEXT), \
          (SELECT fullkey FROM json_tree(CAST(value AS TEXT)) WHERE type = 'integer' \
          LIMIT 1 OFFSET \(random.number(below: 8))), \(number)) \
          WHERE json_valid(CAST(value AS TEXT)) AND key \(kind) 'checkpoint/*'
          """
      case 6, 7: return "UPDATE OR IGNORE \(table) SET \(column) = \(value)"
      default:
        return """
          UPDATE OR IGNORE \(table) SET \(column) = \(value) \
          WHERE \(column) IS (SELECT \(column) FROM \(table) LIMIT 1 OFFSET \(place))
          """
      }
    }
  }
#endif
