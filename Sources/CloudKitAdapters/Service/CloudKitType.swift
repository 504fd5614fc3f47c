#if CloudKit
  public import SyncModels

  /// How one record type of an app is kept in CloudKit.
  public struct CloudKitType: Hashable, Sendable {
    /// The record type's name in CloudKit, such as `Game`.
    public var recordType: String
    /// The types of fields of new records, where a value does not tell them.
    ///
    /// A field that a record already has keeps its type. Others are taken from their JSON values:
    /// strings are `STRING`, whole numbers `INT64`, other numbers `DOUBLE`, and declared references
    /// `REFERENCE`. Times, bytes, locations and empty lists need a declaration.
    public var fields: [FieldName: FieldType] = [:]
    /// The field that marks a record as deleted, if the app deletes so.
    ///
    /// A record whose field is a number other than 0 counts as deleted, and a pushed deletion sets
    /// it to 1. Other mirrors then learn of deletions without a sweep.
    public var deleted: FieldName?
    /// How far a delta of the public database reaches back before the previous one.
    ///
    /// It must exceed the time until an index shows a write, which Apple does not tell.
    public var overlap: Duration = .seconds(60)
    /// The time between two listings of all keys, which show deletions; `nil` for never.
    ///
    /// The engine's own complete listings do not replace them.
    public var sweepEvery: Duration? = .seconds(24 * 3600)

    /// Declares a record type with the default settings.
    public init(_ recordType: String) { self.recordType = recordType }

    /// The part of the declaration that decides which records there are.
    var query: String { "recordType=\(recordType)\(deleted.map { " deleted=\($0)" } ?? "")" }

    /// Checks the declaration.
    func check(_ type: RecordType) throws(SyncError) {
      func refuse(_ message: String) -> SyncError {
        SyncError(.invalidConfiguration, during: "declaring \(type)", message)
      }
      let isName =
        (1...255).contains(recordType.utf8.count) && recordType.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
      guard isName else { throw refuse("The record type's name in CloudKit is empty or invalid.") }
      guard overlap > .zero else { throw refuse("The overlap has to be greater than zero.") }
      guard sweepEvery.map({ $0 > .zero }) ?? true else {
        throw refuse("The time between sweeps has to be greater than zero.")
      }
      if let name = ([deleted].compactMap(\.self) + fields.keys).first(where: {
        RecordPayload.isReserved($0.rawValue)
      }) {
        throw refuse(
          "\"\(name)\" is no field: names that begin with \"___\" are the service's and the library's own.")
      }
      if let (name, other) = fields.first(where: { !FieldType.known.contains($0.value) }) {
        throw refuse("\"\(name)\" has the type \"\(other.rawValue)\", which CloudKit does not have.")
      }
    }
  }
#endif
