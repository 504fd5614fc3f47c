public import SyncModels

/// A Swift type that records of one type decode as.
///
/// ```swift
/// struct Game: SyncedRecord {
///   static let recordType: RecordType = "games"
///   var id: String
///   var date: String
/// }
/// ```
public protocol SyncedRecord: Decodable, Sendable {
  /// The record type that holds them.
  static var recordType: RecordType { get }
}
