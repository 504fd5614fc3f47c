import CanonicalSyncTestProcesses
import Foundation
import SyncJSON
import SyncModels

/// Real data, if a copy is present.
package enum Baseball {
  /// The types, each with a file.
  package static let types = [
    "divisions", "games", "leagues", "seasons", "sports", "stadium_aliases", "stadiums", "team_aliases",
    "teams",
  ]

  private static let directory =
    (ProcessInfo.processInfo.environment["CANONICALSYNC_SHARED"].map { URL(filePath: $0) }
    ?? URL(filePath: #filePath).appending(path: "../../../../shared").standardizedFileURL)
    .appending(path: "data/baseball")

  /// Whether a copy is present.
  package static let isPresent = FileManager.default.fileExists(
    atPath: directory.appending(path: "games.ndjson.gz").path)

  /// The first records of a type.
  package static func objects(_ type: String, atMost limit: Int = .max) throws -> [(id: String, json: String)]
  {
    let (_, data) = try ChildProcess.run(
      ["gunzip", "-c", directory.appending(path: "\(type).ndjson.gz").path])
    var objects: [(id: String, json: String)] = []
    for line in data.split(separator: UInt8(ascii: "\n")).prefix(limit) {
      let bytes = Array(line)
      var id: String?
      try JSONScanner.members(of: bytes[...]) { member throws(JSONError) in
        if member.key == "id" { id = member.value.string() }
      }
      if let id { objects.append((id, String(decoding: bytes, as: UTF8.self))) }
    }
    return objects
  }
}
