import CanonicalSync
import CanonicalSyncToolSupport

/// A part of the story, with the name of its result.
struct Chapter: Sendable {
  let name: String
  let title: String
  /// Plays the chapter, and returns the final contents of the stores and the remote.
  let tell: @Sendable (Stage) async throws(SyncError) -> JSON

  private init(
    _ name: String, _ title: String,
    _ tell: @escaping @Sendable (Stage) async throws(SyncError) -> JSON
  ) {
    self.name = name
    self.title = title
    self.tell = tell
  }

  /// The whole story.
  static let all = [
    Chapter("rebuild", "The morning after the update: ten copies of every meter") {
      (stage) throws(SyncError) in try await stage.rebuild()
    },
    Chapter("rename", "One meter, two names") { (stage) throws(SyncError) in try await stage.rename() },
    Chapter("duplicate", "A backup brings a meter back") {
      (stage) throws(SyncError) in try await stage.duplicate()
    },
    Chapter("discovery", "A meter is heard every few seconds") {
      (stage) throws(SyncError) in try await stage.discovery()
    },
    Chapter("offline", "In the cellar there is no network") {
      (stage) throws(SyncError) in try await stage.offline()
    },
    Chapter("quota", "The remote is full") { (stage) throws(SyncError) in try await stage.quota() },
    Chapter("refusal", "One of three names is refused") {
      (stage) throws(SyncError) in try await stage.refusal()
    },
    Chapter("migration", "Settings from before there was a database") {
      (stage) throws(SyncError) in try await stage.migration()
    },
  ]
}
