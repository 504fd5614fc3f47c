#if CloudKit
  import HTTPAdapters
  import SyncJSON
  public import SyncModels

  /// One database of a container, and in a private or shared one, one zone.
  public struct CloudKitDatabase: Hashable, Sendable {
    /// The container, such as `iCloud.com.example.app`.
    public var container: String
    /// Whether the schema and the records are those of developers or of users.
    public var environment: Environment
    /// Whose records they are.
    public var scope: Scope
    /// The zone of a private or shared database; `nil` in the public one.
    public var zone: ZoneID?
    /// The service's address; another one serves tests.
    public var endpoint = "https://api.apple-cloudkit.com"

    /// Creates a database's address.
    public init(container: String, environment: Environment, scope: Scope, zone: ZoneID? = nil) {
      self.container = container
      self.environment = environment
      self.scope = scope
      self.zone = zone
    }

    /// The two copies of every container.
    public enum Environment: String, CaseIterable, Sendable {
      /// The copy whose schema changes with what is written.
      case development
      /// The copy whose schema is deployed from the console.
      case production
    }

    /// The kinds of databases.
    public enum Scope: String, CaseIterable, Sendable {
      /// One for all users, in the default zone, without change tokens and tombstones.
      case `public`
      /// The signed-in user's own.
      case `private`
      /// What other users share with the signed-in one.
      case shared
    }

    /// The identity of the records for checkpoints. It has no credentials.
    var identity: String {
      let place = "cloudkit:\(endpoint)/\(container)/\(environment.rawValue)/\(scope.rawValue)"
      return zone.map { "\(place)/\($0)" } ?? place
    }

    /// The path of an operation, such as `records/query`.
    func path(of operation: String, in scope: Scope? = nil) -> String {
      "/database/1/\(container)/\(environment.rawValue)/\((scope ?? self.scope).rawValue)/\(operation)"
    }

    /// The zone of records and references.
    var zoneID: ZoneID { zone ?? .defaultZone }

    /// Checks what can be known before a request.
    ///
    /// - Throws: `invalidConfiguration` for an invalid name, and for a zone that the scope cannot
    ///   have or lacks.
    func check() throws(SyncError) {
      func refuse(_ message: String) -> SyncError {
        SyncError(.invalidConfiguration, during: "preparing to reach CloudKit", message)
      }
      let isName =
        !container.isEmpty
        && container.utf8.allSatisfy { byte in
          (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-._".utf8.contains(byte)
        }
      guard isName, container.contains("."), container != "..", container != "." else {
        throw refuse(
          "The container's name is invalid. A valid one looks like iCloud.com.example.app.")
      }
      switch scope {
      case .public:
        guard zone.map(\.isDefault) != false else {
          throw refuse("The public database has the default zone alone; leave the zone out.")
        }
      case .private, .shared:
        guard let zone, !zone.name.isEmpty, !zone.isDefault else {
          throw refuse(
            "A \(scope.rawValue) database needs the name of a zone of its own: only such zones have change tokens."
          )
        }
        guard scope == .private || zone.owner != nil else {
          throw refuse("A zone of a shared database is named together with its owner.")
        }
      }
    }
  }

  /// The name of a zone, and its owner in a shared database.
  public struct ZoneID: Hashable, Sendable {
    /// The zone's name.
    public let name: String
    /// The record name of the owner; `nil` for the user's own zones.
    public let owner: String?

    /// Creates a zone's name.
    public init(_ name: String, owner: String? = nil) {
      self.name = name
      self.owner = owner
    }

    /// The zone that every database has. It has no change tokens.
    static let defaultZone = ZoneID("_defaultZone")

    /// Whether it is the zone that every database has.
    var isDefault: Bool { name == Self.defaultZone.name }

    /// The zone as the service spells it.
    var bytes: [UInt8] {
      var object = ObjectWriter()
      object.add("zoneName", text: name)
      if let owner { object.add("ownerRecordName", text: owner) }
      return object.bytes
    }
  }

  extension ZoneID: CustomStringConvertible {
    /// The name, behind the owner's, if there is one.
    public var description: String { owner.map { "\($0)/\(name)" } ?? name }
  }

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
