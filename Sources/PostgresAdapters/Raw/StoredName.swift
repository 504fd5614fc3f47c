#if Postgres
  import SyncModels

  /// Names of tables and views, which PostgreSQL cuts off after 63 bytes.
  enum StoredName {
    static let longest = 63

    /// A name with a prefix, shortened by a digest if it would be cut off.
    static func of(_ name: String, prefix: String = "") -> String {
      let whole = prefix + name
      if whole.utf8.count <= longest { return whole }
      var start = String(whole.unicodeScalars.prefix(longest))
      while start.utf8.count > longest - 17 { start.unicodeScalars.removeLast() }
      let digits = String(ContentDigest.of(whole), radix: 16)
      return start + "~" + String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// The name as an identifier in SQL.
    static func quoted(_ name: String) -> String {
      "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
  }
#endif
