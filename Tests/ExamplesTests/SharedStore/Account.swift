#if SQLite
  /// What processes said of their edits before they ended, however they ended.
  struct Account {
    /// Edits that were about to be made, each with its record's key and its member; a deletion has none.
    private(set) var begun: Set<String> = []
    /// Edits that were in the store.
    private(set) var made: Set<String> = []
    /// Edits that were refused, whole.
    private(set) var unmade: Set<String> = []
    /// How many syncs failed, by the error's code.
    private(set) var failures: [String: Int] = [:]

    /// What cannot be explained by others who share the store and by processes that are killed.
    var unexpectedFailures: [String: Int] {
      failures.filter { !["syncAlreadyInProgress", "leaseLost", "storeBusy"].contains($0.key) }
    }

    /// Adds what a process said.
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
