package import CanonicalSync
import CanonicalSyncToolSupport
import FileAdapters
import Foundation
import InMemoryAdapters
import SyncAdapters

/// The data to sync: the types, their source, and the bundled records.
package struct Schedule {
  package private(set) var schema: SyncSchema
  package let source: any RemoteRecordSource
  package let bootstrap: Bootstrap?
  private let files: DirectorySource?
  /// Notices about the choice, for a person.
  package private(set) var notices: [String] = []

  /// Chooses the data.
  ///
  /// - Parameters:
  ///   - directory: A directory of `<type>.ndjson` files; `nil` for the built-in schedule.
  ///   - latency: The delay of the remote before each page.
  package init(directory: String?, latency: Duration) throws(SyncError) {
    if let directory {
      let files = try DirectorySource(directory: directory)
      self.files = files
      source = DelayedSource(files, delay: latency)
      let types = try DirectoryTypes(directory)
      schema = try SyncSchema(ScheduleTypes.entities + types.undeclared.map { Entity($0) })
      bootstrap = nil
      notices = types.notices
    } else {
      files = nil
      schema = try SyncSchema(ScheduleTypes.entities)
      source = DelayedSource(BuiltInRemote.make(), delay: latency)
      bootstrap = Bootstrap(try Self.bundledRecords(), layout: BuiltInRemote.layout)
    }
  }

  /// Adds the store's types from the same directory, so that a missing file is detected.
  ///
  /// Files that cannot be synced beside the store's types are left out.
  ///
  /// - Returns: Notices about these files, for a person.
  package mutating func addTypes(syncedInto store: any LocalStore) async throws(SyncError) -> [String] {
    guard bootstrap == nil else { return [] }
    let declared = ScheduleTypes.entities.map(\.type)
    let registered = try await store.read { (snapshot) throws(SyncError) in
      try snapshot.registeredEntities().map(\.type)
    }
    let files = DeclarableTypes(
      schema.entities.map(\.type).filter { !declared.contains($0) }, beside: registered + declared)
    let known = try await store.types(syncedFrom: source.identity).filter { !declared.contains($0) }
    let missing = DeclarableTypes(
      known.filter { !files.usable.contains($0) }, beside: declared + files.usable)
    self.schema = try SyncSchema(
      ScheduleTypes.entities + (files.usable + missing.usable).map { Entity($0) })
    return files.refused.map { DirectoryTypes.notice(of: $0.type) }
  }

  /// Describes where records are in their files, a sentence each.
  ///
  /// The built-in schedule has no files.
  package func places(of ids: [RecordID]) async throws(SyncError) -> [String] {
    guard let files, !ids.isEmpty else { return [] }
    let lines = try await files.lines(of: Set(ids))
    return ids.compactMap { id in
      guard let numbers = lines[id] else { return nil }
      let list = numbers.map(\.description).joined(separator: ", ")
      return "\(id) stands on \(Counted(numbers.count, "line").words) \(list) of \(id.type).ndjson."
    }
  }

  private static func bundledRecords() throws(SyncError) -> [UInt8] {
    do {
      guard let url = Bundle.module.url(forResource: "bootstrap", withExtension: "json") else {
        throw CocoaError(.fileNoSuchFile)
      }
      return [UInt8](try Data(contentsOf: url))
    } catch {
      throw SyncError(
        .invalidConfiguration, during: "reading the bundled data set",
        "The resource bootstrap.json is not beside the program; build the package again.", underlying: error)
    }
  }
}
