public import SyncModels

/// A Swift type that the records of one record type decode as.
///
/// A type that is `Identifiable` by its key, a `String`, can be edited without naming the key:
/// `edits.upsert(game)`.
///
/// ```swift
/// struct Game: SyncedRecord, Identifiable {
///   static let recordType: RecordType = "games"
///   var id: String
///   var date: String
/// }
/// ```
public protocol SyncedRecord: Decodable, Sendable {
  /// The type of the records.
  static var recordType: RecordType { get }
}
