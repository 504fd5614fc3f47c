#if Postgres
  /// The queries whose plans the server keeps.
  ///
  /// Planning takes longer than most queries. But a kept plan is one for all values, and what a
  /// condition selects depends on them. So those that follow a query that took long, and differ from it
  /// only in values, are planned each for its own.
  struct KeptPlans {
    /// The number of the next uses that do without a kept plan, by statement.
    private var pauses: [String: Int] = [:]

    /// The most statements that are remembered.
    private static let size = 64
    /// The time from which planning is a small part of a query.
    private static let long = Duration.milliseconds(50)
    private static let pause = 50

    /// Whether the server is to keep the plan of a statement that is about to be run.
    mutating func keeps(_ sql: String) -> Bool {
      let pause = pauses[sql]
      if let pause, pause > 0 {
        pauses[sql] = pause - 1
        return false
      }
      if pause == nil {
        if pauses.count >= Self.size { pauses = [:] }
        pauses[sql] = 0
      }
      return true
    }

    /// Notes how long a statement with a kept plan took.
    mutating func note(_ sql: String, took time: Duration) {
      if time >= Self.long { pauses[sql] = Self.pause }
    }
  }
#endif
