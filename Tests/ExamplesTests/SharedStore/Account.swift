#if SQLite
  /// The edits that processes reported before their end.
  struct Account {
    /// Edits that were about to be made.
    ///
    /// Each has its record's key and its member; a deletion has no member.
    private(set) var begun: Set<String> = []
    /// Edits that were stored.
    private(set) var made: Set<String> = []
    /// Edits that were refused as a whole.
    private(set) var unmade: Set<String> = []
    /// The number of failed syncs, by error code.
    private(set) var failures: [String: Int] = [:]

    /// Failures that neither the shared store nor killed processes explain.
    var unexpectedFailures: [String: Int] {
      failures.filter { !["syncAlreadyInProgress", "leaseLost", "storeBusy"].contains($0.key) }
    }

    /// Adds the output of a process.
    mutating func add(_ output: String) {
      for line in output.split(separator: "\n") {
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 2 else { continue }
        switch words[0] {
        case "making": begun.insert(words[1])
        case "made": made.insert(words[1])
        case "unmade": unmade.insert(words[1])
        default: failures[words[1], default: 0] += 1
        }
      }
    }
  }
#endif
