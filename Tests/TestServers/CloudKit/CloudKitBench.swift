#if CloudKit && os(Linux)
  package import CloudKitAdapters
  package import HTTPAdapters
  package import InMemoryAdapters
  package import SyncModels
  import SyncPorts
  import Synchronization

  /// A stand-in service with one type, and clients of it.
  package struct CloudKitBench: Sendable {
    package let clock: ManualClock
    package let service: StandInCloudKit
    package var database: CloudKitDatabase
    package let access: CloudKitAccess
    /// What no message and no log may contain.
    package let secrets: [String]
    package var types: [RecordType: CloudKitType]

    /// The two kinds of databases.
    package enum Kind: CaseIterable, Sendable {
      case publicDatabase, privateZone
    }

    package static let zone = "Games"

    /// Creates an empty service.
    package init(
      _ kind: Kind, types: [RecordType: CloudKitType] = ["items": CloudKitType("Item")],
      _ change: (inout StandInCloudKit.Settings) -> Void = { _ in }
    ) throws {
      let (privateKey, publicKey) = try StandInCloudKit.makeKey()
      var settings = StandInCloudKit.Settings()
      settings.publicKey = publicKey
      change(&settings)
      let clock = ManualClock()
      self.clock = clock
      self.types = types
      service = StandInCloudKit(settings: settings, clock: clock)
      secrets =
        [settings.apiToken, "first+/="] + privateKey.split(separator: "\n").dropFirst().map(String.init)
      switch kind {
      case .publicDatabase:
        access = .serverToServer(
          try ServerToServerKey(keyID: settings.keyID, privateKey: SigningKey(pem: privateKey)))
        var database = CloudKitDatabase(
          container: StandInCloudKit.container, environment: .development, scope: .public)
        database.endpoint = StandInCloudKit.endpoint
        self.database = database
      case .privateZone:
        service.webToken = "first+/="
        access = .user(apiToken: settings.apiToken, token: TokenInMemory("first+/="))
        var database = CloudKitDatabase(
          container: StandInCloudKit.container, environment: .development, scope: .private,
          zone: ZoneID(Self.zone))
        database.endpoint = StandInCloudKit.endpoint
        self.database = database
        service.makeZone(Self.zone)
      }
    }

    /// The database's name at the service, and the zone's.
    package var place: (database: String, zone: String) {
      (database.scope.rawValue, database.zone?.name ?? "_defaultZone")
    }

    package func source(_ transport: (any HTTPTransport)? = nil) throws -> CloudKitSource {
      try CloudKitSource(
        database, access: access, types: types, transport: transport ?? service, clock: clock)
    }

    /// Runs something while the clock is advanced past each pause before a retry.
    ///
    /// No other time passes, so no signature becomes old because the machine is busy.
    package func passingPauses<Result>(_ body: () async throws -> Result) async rethrows -> Result {
      async let _: Void = {
        while !Task.isCancelled { clock.advance(by: await clock.nextSleep(.retry)) }
      }()
      return try await body()
    }

    /// Writes a record with a number, a millisecond later.
    package func put(_ name: String, _ value: Int) {
      clock.advance(by: .milliseconds(1))
      service.put(
        [(name, [("value", StandInField("\(value)", "INT64"))])], type: "Item", in: place.database,
        zone: place.zone)
    }

    package func delete(_ name: String) {
      clock.advance(by: .milliseconds(1))
      service.delete([name], in: place.database, zone: place.zone)
    }
  }

  /// A web auth token in memory.
  package final class TokenInMemory: WebAuthTokenKeeper {
    private let token: Mutex<String>
    package init(_ token: String) { self.token = Mutex(token) }
    package func current() -> String { token.withLock { $0 } }
    package func keep(_ token: String) { self.token.withLock { $0 = token } }
  }
#endif
