#if SQLite
  import SyncModels

  /// Finds records in the order of their ids, by one walk along the index where they lie close together.
  ///
  /// A complete listing in that order meets every row of the table in turn: one statement steps from each to the next, where a lookup for
  /// each would start at the root. Across wide gaps the walk begins anew behind them; where there are many, it had better be given up.
  struct StateWalk {
    private let statement: Statement
    private var place = Place.unknown
    private var wideGaps = 0

    private enum Place { case unknown, row, end }

    // As many steps cost about as much as beginning anew.
    private static let maximumSteps = 4
    // A delta's records are far apart, all of them.
    private static let maximumWideGaps = 4

    init(_ statement: Statement) {
      self.statement = statement
    }

    /// Whether looking the other records up costs less.
    var isGivenUp: Bool { wideGaps > Self.maximumWideGaps }

    /// The row and the state of a record. Each key asked for is greater than the one before.
    mutating func find(
      _ key: String, comparing payload: Payload, marks: MarkBook
    ) throws(SyncError) -> (row: Int64, state: StoredState)? {
      var steps = 0
      var isSought = false
      while place != .end {
        if place == .row {
          switch statement.order(0, against: key) {
          case 0: return try statement.state(from: 1, comparing: payload, marks: marks)
          case 1: return nil
          default:
            // Behind the place where an index has the id, everything comes after it.
            if isSought { statement.noteDamage("an index in no order") }
          }
        }
        steps += 1
        if steps > Self.maximumSteps { wideGaps += 1 }
        if place == .unknown || steps > Self.maximumSteps {
          statement.reset()
          try statement.bind(key, at: 1)
          steps = 0
          isSought = true
        }
        place = try statement.step() ? .row : .end
      }
      return nil
    }
  }

  extension [Record] {
    /// Whether all are of one type, and each id comes after the one before.
    var areInOrder: Bool {
      for place in indices.dropFirst() {
        guard self[place - 1].id.key.precedesByUTF8(self[place].id.key),
          self[place - 1].id.type == self[place].id.type
        else { return false }
      }
      return true
    }
  }
#endif
