#if SQLite
  /// A name as SQL writes it, whatever is in it.
  func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }
#endif
