import CanonicalSync
import CanonicalSyncToolSupport
import Foundation
import SyncAdapters
import SyncCore
import SyncJSON
import SyncMaintenance

/// Makes a new store of a damaged one, and prints the results.
struct Salvage {
  let isJSON: Bool
  private let output = StandardStream.output

  init(isJSON: Bool) {
    self.isJSON = isJSON
  }

  /// Salvages a store into a file.
  ///
  /// The new store is built under another name, and gets its own name once it is complete. After a
  /// failure or Ctrl-C there is none.
  ///
  /// - Returns: Failure if something was lost that the next sync cannot fetch.
  func run(from path: String, to target: String) async throws(SyncError) -> ExitCode {
    let stop = CancellationSource()
    let interrupt = Interrupt { stop.cancel() }
    defer { withExtendedLifetime(interrupt) {} }
    if let name = Self.existing(target) {
      throw SyncError(
        .invalidConfiguration, during: "salvaging \(path)",
        "\(name) exists already; name a new store that has no files yet.")
    }
    let source = OpenedStore.isDatabase(path) ? nil : Self.resolved(path)
    guard !Self.partialNames(of: target).contains(where: { Self.resolved($0) == source }) else {
      throw SyncError(
        .invalidConfiguration, during: "salvaging \(path)",
        "\(path) is a name that the salvage itself uses and removes; give the new store another name.")
    }
    let report: SalvageReport
    do throws(SyncError) {
      report = try await Self.build(target + ".incomplete", from: path, token: stop)
    } catch {
      Self.remove(target + ".incomplete")
      if error.code == .cancelled {
        if isJSON { output.line(JSON.cancelled) }
        return .interrupted
      }
      throw error
    }
    try Self.finish(target)
    show(report, at: target)
    return report.lostLocalState ? .failure : .success
  }

  private static func build(
    _ partial: String, from path: String, token: CancellationSource
  ) async throws(SyncError) -> SalvageReport {
    // What an interrupted salvage left.
    remove(partial)
    return try await withSalvageSource(at: path, scratch: partial + ".copy") { (source) throws(SyncError) in
      try await withWritableStore(at: partial) { (store) throws(SyncError) in
        let screen = PatientBar()
        defer { screen.finish() }
        let salvage = StoreSalvage(from: source, to: store) { screen.show($0) }
        return try await salvage.run(token: token)
      }
    }
  }

  // MARK: Files

  private static let suffixes = ["", "-wal", "-shm", ".lease"]

  /// The files that the salvage writes and removes before the new store has its name.
  private static func partialNames(of target: String) -> [String] {
    [".incomplete", ".incomplete.copy", ".incomplete.copy-recovered"].flatMap { name in
      (suffixes + ["-journal"]).map { target + name + $0 }
    }
  }

  private static func resolved(_ path: String) -> String {
    URL(filePath: path).resolvingSymlinksInPath().standardizedFileURL.path
  }

  /// The first of a store's names that is taken; `nil` for none.
  static func existing(_ path: String) -> String? {
    // Unlike `fileExists`, it does not follow a link, which may lead nowhere.
    suffixes.map { path + $0 }.first { (try? FileManager.default.attributesOfItem(atPath: $0)) != nil }
  }

  static func remove(_ path: String) {
    for suffix in suffixes {
      var isDirectory: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path + suffix, isDirectory: &isDirectory),
        !isDirectory.boolValue
      else { continue }
      // What cannot be removed is in the way of the next step, which then fails.
      try? FileManager.default.removeItem(atPath: path + suffix)
    }
  }

  /// Gives the complete store its name, if it is one file.
  static func finish(_ target: String) throws(SyncError) {
    let log = target + ".incomplete-wal"
    let attributes = try? FileManager.default.attributesOfItem(atPath: log)
    guard attributes?[.size] as? Int ?? 0 == 0 else {
      throw SyncError(
        .storeFailure, during: "closing the new store",
        """
        The new store's log could not be moved into its file, for want of room or because another program \
        has \(target).incomplete open. Make room, or end that program, and salvage again.
        """)
    }
    do {
      try FileManager.default.moveItem(atPath: target + ".incomplete", toPath: target)
    } catch {
      throw SyncError(
        .storeFailure, during: "naming the new store",
        "The new store is complete, and could not be named \(target): it is at \(target).incomplete.",
        underlying: error)
    }
    remove(target + ".incomplete")
  }

  // MARK: Results

  private func show(_ report: SalvageReport, at path: String) {
    guard !isJSON else { return output.line(Self.object(report, at: path)) }
    let rows = report.types.sorted { $0.key < $1.key }.map { type, counts -> [TextTable.Cell] in
      [.text(type.rawValue), .number(counts.edits), .number(counts.records), .number(counts.leftOut)]
    }
    if !rows.isEmpty {
      output.line(
        TextTable(["type", "edits", "records", "left out"], rows: rows).text(fitting: output.width))
    }
    for loss in report.losses { output.prose(Verification.line(Self.sentence(loss))) }
    let more = report.lost.values.reduce(0, +) - report.losses.count
    if more > 0 { output.line("… and \(Counted(more, "more loss", "more losses").grouped).") }
    output.prose(
      "\(path) has \(Counted(report.edits, "edit").grouped), \(Counted(report.conflicts, "conflict").grouped), \(Counted(report.values, "kept value").grouped) and \(Counted(report.records, "record").grouped). The next sync lists everything and fetches the rest."
    )
    if report.lostLocalState { output.line("Something was lost that exists nowhere else.") }
  }

  private static func sentence(_ loss: SalvageLoss) -> String {
    let place = [loss.type?.rawValue, loss.key].compactMap(\.self).joined(separator: " ")
    return "lost of \(loss.part.rawValue)\(place.isEmpty ? "" : " (\(place))"): \(loss.detail)"
  }

  private static func object(_ report: SalvageReport, at path: String) -> JSON {
    [
      "to": .string(path), "edits": .integer(report.edits), "conflicts": .integer(report.conflicts),
      "values": .integer(report.values), "records": .integer(report.records),
      "lostLocalState": .bool(report.lostLocalState),
      "types": .object(
        report.types.sorted { $0.key < $1.key }.map { type, counts in
          (
            type.rawValue,
            [
              "edits": .integer(counts.edits), "records": .integer(counts.records),
              "leftOut": .integer(counts.leftOut),
            ]
          )
        }),
      "lost": .object(
        SalvageLoss.Part.allCases.map { ($0.rawValue, .integer(report.lost[$0, default: 0])) }),
      "losses": .array(
        report.losses.map { loss in
          [
            "part": .string(loss.part.rawValue), "type": .text(loss.type?.rawValue),
            "key": .text(loss.key), "detail": .string(loss.detail),
          ]
        }),
    ]
  }
}
