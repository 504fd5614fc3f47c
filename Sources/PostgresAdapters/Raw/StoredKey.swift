#if Postgres
  /// A stored key: a head that fits an index entry, and the rest.
  ///
  /// An entry of an index ends near 2,700 bytes, and keys are of any length. Ordering by head and
  /// rest is the order of the whole keys' bytes. Text columns could not hold the NUL that a key may
  /// contain, so both parts are bytes.
  struct StoredKey: Hashable {
    let head: ArraySlice<UInt8>
    let rest: ArraySlice<UInt8>

    /// The most bytes of a head.
    static let headSize = 1000

    init(_ key: String) { self.init(Array(key.utf8)[...]) }

    init(_ bytes: ArraySlice<UInt8>) {
      head = bytes.prefix(Self.headSize)
      rest = bytes.dropFirst(Self.headSize)
    }

    /// The text of a stored key.
    static func text(_ head: [UInt8], _ rest: [UInt8]) -> String {
      String(decoding: rest.isEmpty ? head : head + rest, as: UTF8.self)
    }

    /// The expression that tells long keys with equal heads apart in a unique index.
    static func digest(of rest: String) -> String {
      "(CASE WHEN \(rest) = ''::bytea THEN ''::bytea ELSE sha256(\(rest)) END)"
    }
  }

  extension [ColumnArray] {
    /// Appends a key to two columns of bytes.
    mutating func append(key: String, at place: Int) {
      if key.utf8.count <= StoredKey.headSize {
        self[place].append(key)
        self[place + 1].append([])
        return
      }
      let key = StoredKey(key)
      self[place].append(key.head)
      self[place + 1].append(key.rest)
    }
  }
#endif
