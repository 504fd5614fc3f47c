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

    /// When it was written, in seconds.
    var time: Double {
      let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
      return (try? Date(self["at"], strategy: style))?.timeIntervalSince1970 ?? 0
    }

    /// Whether it tells of a sync that starts because of something.
    func starts(for trigger: String) -> Bool {
      event == "sync.started" && self["for"].split(separator: ",").contains { $0 == trigger }
    }
  }

  extension String {
    /// The lines of a log in JSON; a last one that is not yet whole is left out.
    var daemonLines: [DaemonLine] {
      split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { DaemonLine($0) }
    }
  }

  extension RunningTool {
    var lines: [DaemonLine] { errorsSoFar.daemonLines }

    /// Waits until so many lines of the log satisfy a condition, or the daemon ends; the suite's time limit is the failure.
    ///
    /// - Parameters:
    ///   - start: How many lines at the beginning are passed over.
    ///   - act: What is to be done that very moment.
    /// - Returns: How many lines there are then.
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
