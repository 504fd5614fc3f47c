import CanonicalSync

/// The options of every tool that runs as a service.
package struct ServiceOptions: Sendable {
  package let timeZone: String?
  package let hidesAfter: Duration?
  package let metricsFile: String?
  let logsPages: Bool
  let logsJSON: Bool

  private static let timeZoneOption = Option<String?>.text(
    "time-zone", "NAME", "the time zone of the sync at 02:00, as in Europe/Berlin; by default the machine's")
  private static let hideAfter = Option<Int?>.number(
    "hide-after-days", "N",
    "hide records that the remote has not changed for so long, after the sync at 02:00 or the only one",
    in: 1...36_500)
  private static let logPages = Option<Bool>.flag("log-pages", "log each page as well")
  private static let jsonLog = Option<Bool>.flag("json-log", "log one JSON object to a line")
  private static let metricsFileOption = Option<String?>.text(
    "metrics-file", "PATH",
    "write metrics in Prometheus' text format, for a textfile collector: after each sync, and every 15 seconds"
  )

  /// The options, in the order of the help.
  package static let all: [any DeclaredOption] = [
    timeZoneOption, hideAfter, logPages, jsonLog, metricsFileOption,
  ]

  /// Takes the values from a command line.
  package init(_ arguments: Arguments) {
    timeZone = arguments[Self.timeZoneOption]
    hidesAfter = arguments[Self.hideAfter].map { .seconds($0 * 86_400) }
    logsPages = arguments[Self.logPages]
    logsJSON = arguments[Self.jsonLog]
    metricsFile = arguments[Self.metricsFileOption]
  }

  /// The given options that have no effect on a tool that syncs once and ends.
  package var ofServicesAlone: [String] {
    [
      timeZone != nil ? "--time-zone" : nil, logsPages ? "--log-pages" : nil, logsJSON ? "--json-log" : nil,
    ].compactMap(\.self)
  }
}
