#if SQLite
  import SyncModels

  /// Finds records in the order of their ids, by one walk along the index.
  ///
  /// A complete listing in that order meets every row of the table in turn. One statement steps
  /// from row to row, where lookups would start at the root each time. After a wide gap the walk
  /// restarts behind it. After many wide gaps it is given up.
  struct StateWalk {
    private let statement: Statement
    private var position = Position.unknown
    private var wideGaps = 0

    private enum Position { case unknown, row, end }

    // This many steps cost about as much as a restart.
    private static let maximumSteps = 4
    // All records of a delta are far apart.
    private static let maximumWideGaps = 4

    init(_ statement: Statement) {
      self.statement = statement
    }

    /// Whether no row follows, so that the remaining records have none.
    var isAtEnd: Bool { position == .end }

    /// Whether lookups of the remaining records cost less.
    var isGivenUp: Bool { wideGaps > Self.maximumWideGaps }

    /// The row and the state of a record. Keys must be in ascending order.
    mutating func find(
      _ key: String, comparing payload: Payload, marks: TypeMarks
    ) throws(SyncError) -> (row: Int64, state: StoredState)? {
      var steps = 0
      var isSought = false
      while position != .end {
        if position == .row {
          switch statement.order(0, against: key) {
          case 0: return try statement.state(from: 1, comparing: payload, marks: marks)
          case 1: return nil
          default:
            // In an intact index, the rows after the id's position have greater ids.
            if isSought { statement.noteDamage("an index that is out of order") }
          }
        }
        steps += 1
        if steps > Self.maximumSteps { wideGaps += 1 }
        if position == .unknown || steps > Self.maximumSteps {
          statement.reset()
          try statement.bind(key, at: 1)
          steps = 0
          isSought = true
        }
        position = try statement.step() ? .row : .end
      }
      return nil
    }
  }

  extension [Record] {
    /// Whether all ids are of one type, in ascending order.
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
