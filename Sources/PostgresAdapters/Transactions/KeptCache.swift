#if Postgres
  import SyncModels
  import SyncPorts

  /// The kept values that a connection remembers.
  ///
  /// Values whose keys have the same text before their last slash are read together, if they are
  /// few and short: the checkpoints of all types take one statement.
  struct KeptCache {
    /// The version of the kept values; -1 if nothing is remembered.
    private(set) var version: Int64 = -1
    private var values: [[UInt8]: [UInt8]?] = [:]
    /// The families that were read: whether all of their keys are known.
    private var families: [[UInt8]: Bool] = [:]

    /// The most values that are remembered.
    private static let size = 512
    /// The most values of a family that are read together.
    private static let familySize = 64
    /// The most bytes of a value that is read with others.
    private static let valueSize = 2048

    /// Forgets what does not belong to a version.
    mutating func enter(_ version: Int64) {
      guard version != self.version else { return }
      self = KeptCache()
      self.version = version
    }

    /// Forgets everything.
    mutating func forget() { self = KeptCache() }

    /// Notes that a commit has made the remembered values those of the next version.
    mutating func rise() { version += 1 }

    /// The value under a key; `nil` if it is not known.
    ///
    /// A key that has no value gives a `nil` inside.
    subscript(key: [UInt8]) -> [UInt8]?? {
      if let value = values[key] { return .some(value) }
      guard let family = Self.family(of: key), families[family] == true else { return nil }
      return .some(nil)
    }

    /// Notes a value that the transaction writes.
    mutating func note(_ value: [UInt8]?, for key: [UInt8]) { values[key] = .some(value) }

    // MARK: Reading

    private static let one = "SELECT id, rest, value FROM kept WHERE id = $1::bytea AND rest = $2::bytea"
    private static let many = """
      \(one) UNION ALL (SELECT id, rest, CASE WHEN octet_length(value) <= \(valueSize) THEN value END FROM kept \
      WHERE id >= $3::bytea AND id < $4::bytea ORDER BY id LIMIT \(familySize + 1))
      """

    /// A read of a value.
    struct Read {
      /// The statement.
      let statement: Statement
      /// The key of the value.
      fileprivate let key: [UInt8]
      /// The family that the statement reads too.
      ///
      /// The cache may forget everything before the result is there. It then no longer knows which
      /// statement was made, and must not take a family for read that was not.
      fileprivate let family: [UInt8]?
    }

    /// Returns the read of a value, with its family unless that was read.
    func read(of key: [UInt8]) -> Read {
      let stored = StoredKey(key[...])
      guard let family = Self.family(of: key), families[family] == nil else {
        return Read(statement: Statement(Self.one) { $0.add(stored) }, key: key, family: nil)
      }
      let statement = Statement(Self.many) { parameters in
        parameters.add(stored)
        parameters.add(bytes: family)
        parameters.add(bytes: family.dropLast() + [Self.slash + 1])
      }
      return Read(statement: statement, key: key, family: family)
    }

    /// Remembers the result of a read, and returns the value.
    mutating func take(_ rows: ResultRows, of read: Read) -> [UInt8]? {
      let key = read.key
      if values.count >= Self.size {
        (values, families) = ([:], [:])
      }
      var found: [UInt8]?
      var members = 0
      for (place, row) in rows.enumerated() {
        let id = row.bytes(0) + row.bytes(1)
        if id != key || place > 0 { members += 1 }
        guard !row.isNull(2) else { continue }
        if id == key, found == nil { found = row.bytes(2) }
        // What the transaction writes is newer.
        if values[id] == nil { values[id] = .some(row.bytes(2)) }
      }
      if values[key] == nil { values[key] = .some(found) }
      if let family = read.family {
        families[family] = members <= Self.familySize && !rows.contains { $0.isNull(2) }
      }
      return found
    }

    private static let slash = UInt8(ascii: "/")

    /// The key up to its last slash, if one column holds that.
    private static func family(of key: [UInt8]) -> [UInt8]? {
      guard let place = key.lastIndex(of: slash), place < StoredKey.headSize else { return nil }
      return Array(key[...place])
    }
  }
#endif
