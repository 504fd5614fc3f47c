#if CloudKit
  import HTTPAdapters
  import SyncModels

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
    func path(of operation: String) -> String {
      "/database/1/\(container)/\(environment.rawValue)/\(scope.rawValue)/\(operation)"
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
#endif
