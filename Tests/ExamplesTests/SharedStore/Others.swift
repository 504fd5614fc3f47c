#if SQLite
  import CanonicalSyncTestServers
  import InMemoryAdapters
  import Synchronization

  /// Other clients that edit the same records at the server, with a log.
  ///
  /// They edit now and then, between the requests of a process.
  final class Others: Sendable {
    private struct State {
      var random: SplitMix64
      var isResting = false
      var number = 0
      var members: [String: Set<String>] = [:]
      var deleted: Set<String> = []
    }
    private let server: BookkeepingKinto
    private let state: Mutex<State>

    init(_ server: BookkeepingKinto, random: SplitMix64) {
      self.server = server
      state = Mutex(State(random: random))
    }

    /// The members that they added to records, by key.
    var members: [String: Set<String>] { state.withLock { $0.members } }
    /// The records that they deleted.
    var deleted: Set<String> { state.withLock { $0.deleted } }

    /// Writes 40 records for edits by all clients, and 200 for deletions by all.
    func writeTheFirstRecords() {
      for number in 0..<40 { add(to: "k\(number)") }
      for number in 0..<200 { add(to: "d\(number)") }
    }

    /// Makes a random edit.
    func edit() {
      let (choice, number) = state.withLock { state in
        (state.isResting ? nil : state.random.number(below: 12), state.random.number(below: 200))
      }
      switch choice {
      case 0: delete("d\(number)")
      case 1, 2: add(to: "k\(number % 40)")
      // Some pages of records that are never edited again. A lost one stays lost.
      case 3, 4: for _ in 0..<(number % 30) { add(to: nil) }
      default: return
      }
    }

    /// Stops all edits.
    func rest() { state.withLock { $0.isResting = true } }

    private func delete(_ key: String) {
      state.withLock { _ = $0.deleted.insert(key) }
      server.write(key) { $0 = nil }
    }

    /// Adds a unique member to a record, or to a new one.
    private func add(to key: String?) {
      let (key, member) = state.withLock { state in
        state.number += 1
        let (key, member) = (key ?? "r\(state.number)", "o\(state.number)")
        state.members[key, default: []].insert(member)
        return (key, member)
      }
      server.write(key) { $0 = ($0 ?? [:]).merging([member: 1]) { $1 } }
    }
  }
#endif
