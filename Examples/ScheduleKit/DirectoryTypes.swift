import CanonicalSync
import Foundation

/// The record types that the files of a directory stand for.
struct DirectoryTypes {
  /// Types that the schedule does not declare, by name; they are synced as they are, without references.
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
      notices.append("\"\(directory)\" holds no <type>.ndjson file, so there is not one record to sync.")
    }
    let declared = Set(ScheduleTypes.entities.map(\.type))
    for file in files.sorted() where file.hasSuffix(".ndjson") {
      let type = RecordType(String(file.dropLast(".ndjson".count)))
      if declared.contains(type) { continue }
      if (try? EntityGraph(ScheduleTypes.entities + [Entity(type)])) != nil {
        undeclared.append(type)
      } else {
        notices.append("\(file) is not synced: its name is no record type, or another's but for case.")
      }
    }
  }
}
