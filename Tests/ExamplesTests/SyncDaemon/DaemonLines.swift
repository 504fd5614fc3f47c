#if SQLite
  import Foundation

  /// One line of a daemon's log.
  struct DaemonLine: Sendable {
    private let fields: [String: String]

    init?(_ line: some StringProtocol) {
      let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      guard let object, object["event"] is String, object["at"] is String else { return nil }
      fields = object.mapValues { "\($0)" }
    }

    subscript(key: String) -> String { fields[key] ?? "" }
    func count(_ key: String) -> Int { Int(self[key]) ?? 0 }
    var event: String { self["event"] }

    /// The time of the line, in seconds.
    var time: Double {
      let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
      return (try? Date(self["at"], strategy: style))?.timeIntervalSince1970 ?? 0
    }

    /// Whether the line reports a sync that starts for a trigger.
    func starts(for trigger: String) -> Bool {
      event == "sync.started" && self["for"].split(separator: ",").contains { $0 == trigger }
    }
  }

  extension String {
    /// The lines of a log in JSON, without an incomplete last one.
    var daemonLines: [DaemonLine] {
      split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { DaemonLine($0) }
    }
  }

  extension RunningTool {
    var lines: [DaemonLine] { errorsSoFar.daemonLines }

    /// Waits until this many lines satisfy a condition, or the daemon ends.
    ///
    /// The suite's time limit is the failure.
    ///
    /// - Parameters:
    ///   - start: The number of lines to skip at the beginning.
    ///   - act: Runs at that instant.
    /// - Returns: The number of lines at that instant.
    @discardableResult
    func waitForLines(
      _ count: Int = 1, after start: Int = 0, where condition: @escaping @Sendable (DaemonLine) -> Bool,
      then act: @escaping @Sendable () -> Void = {}
    ) async -> Int {
      await waitForErrors(
        where: { $0.daemonLines.dropFirst(start).count(where: condition) >= count }, then: act)
      return lines.count
    }
  }
#endif
