import CanonicalSync
import CanonicalSyncToolSupport
import Foundation

/// The record types of a directory's files.
struct DirectoryTypes {
  /// The types that the schedule does not declare, by name.
  ///
  /// They are synced as they are, without references.
  private(set) var undeclared: [RecordType] = []
  private(set) var notices: [String] = []

  init(_ directory: String) throws(SyncError) {
    let files: [String]
    do {
      files = try FileManager.default.contentsOfDirectory(atPath: directory)
    } catch {
      throw SyncError(
        .invalidConfiguration, during: "looking for files of records",
        "\"\(directory)\" cannot be listed; it may not be there, or its permissions forbid it.",
        underlying: error)
    }
    if !files.contains(where: { $0.hasSuffix(".ndjson") }) {
      notices.append("\"\(directory)\" holds no <type>.ndjson file, so there is no record to sync.")
    }
    let declared = ScheduleTypes.entities.map(\.type)
    let names = files.sorted().filter { $0.hasSuffix(".ndjson") }.map {
      RecordType(String($0.dropLast(".ndjson".count)))
    }
    let types = DeclarableTypes(names.filter { !declared.contains($0) }, beside: declared)
    undeclared = types.usable
    notices += types.refused.map { Self.notice(of: $0.type) }
  }

  /// The notice about a file that is not synced.
  static func notice(of type: RecordType) -> String {
    "\(type).ndjson is not synced: its name is not a valid record type, or equals another's except for case."
  }
}
