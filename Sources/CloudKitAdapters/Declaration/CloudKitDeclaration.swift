#if CloudKit
  public import HTTPAdapters
  import SyncJSON
  public import SyncModels
  public import SyncPorts

  /// A CloudKit database and its types, as a person describes them in a JSON file.
  ///
  /// ```json
  /// {"container": "iCloud.com.example", "environment": "production", "database": "public",
  ///  "auth": {"serverToServer": {"keyID": "env:CK_KEY_ID", "privateKey": "file:key.pem"}},
  ///  "types": {"games": {"recordType": "Game", "references": {"homeTeam": "teams"}},
  ///            "teams": {"recordType": "Team"}}}
  /// ```
  ///
  /// A secret is only ever named, as `env:NAME` or `file:PATH`, never written there.
  public struct CloudKitDeclaration: Sendable {
    /// The database.
    public let database: CloudKitDatabase
    /// Who asks.
    public let access: CloudKitAccess
    /// The record type of each type.
    public let types: [RecordType: CloudKitType]
    /// The types, with their references and indexes.
    public let schema: SyncSchema

    /// Reads a declaration, and the secrets that it names.
    ///
    /// - Parameters:
    ///   - json: The declaration, as JSON text.
    ///   - document: The name of the text, for errors.
    /// - Throws: `invalidConfiguration` with the path of the member at fault; the errors of
    ///   ``SigningKey`` and ``TokenFile``.
    public init(_ json: [UInt8], of document: String) throws(SyncError) {
      let root = try DeclaredValue(json, of: document)
      let object = try root.object([
        "container", "environment", "database", "zone", "zoneOwner", "endpoint", "auth", "types",
      ])
      var database = CloudKitDatabase(
        container: try object.required("container").text(),
        environment: try object.required("environment").choice(of: CloudKitDatabase.Environment.self),
        scope: try object.required("database").choice(of: CloudKitDatabase.Scope.self))
      if let zone = try object["zone"]?.text() {
        database.zone = ZoneID(zone, owner: try object["zoneOwner"]?.text())
      } else if let owner = object["zoneOwner"] {
        throw owner.failure("names the owner of a zone, and no zone is named.")
      }
      if let endpoint = try object["endpoint"]?.text() { database.endpoint = endpoint }
      self.database = database

      let declared = try object.required("types")
      var types: [RecordType: CloudKitType] = [:]
      var entities: [Entity] = []
      for (name, value) in try declared.entries() {
        let members = try value.object(
          ["recordType", "fields", "deleted", "overlap", "sweepEvery"] + Entity.declaredMembers)
        types[RecordType(name)] = try CloudKitType(members)
        entities.append(try Entity(RecordType(name), from: members))
      }
      self.types = types
      schema = try declared.schema(of: entities)
      for entity in entities { try types[entity.type]?.check(entity.type) }
      try database.check()
      access = try CloudKitAccess(try object.required("auth"))
    }

    /// Creates the source of the declaration. Nothing is sent yet.
    ///
    /// - Throws: The errors of ``CloudKitSource``.
    public func source(
      options: CloudKitSource.Options = CloudKitSource.Options(), transport: any HTTPTransport,
      clock: any SyncPorts.Clock<Duration> = ContinuousClock()
    ) throws(SyncError) -> CloudKitSource {
      try CloudKitSource(database, access: access, types: types, transport: transport, clock: clock)
    }
  }

  extension CloudKitType {
    /// Reads the members of a type's declaration that concern CloudKit.
    fileprivate init(_ object: DeclaredObject) throws(SyncError) {
      self.init(try object.required("recordType").text())
      for (name, value) in try object["fields"]?.entries() ?? [] {
        fields[FieldName(name)] = FieldType(rawValue: try value.text())
      }
      deleted = try object["deleted"].map { (value) throws(SyncError) in FieldName(try value.text()) }
      if let value = object["overlap"] { overlap = try value.seconds(in: 1...86_400) }
      if let value = object["sweepEvery"] {
        sweepEvery = value.kind == .false ? nil : try value.seconds(in: 1...31_536_000)
      }
    }
  }

  extension CloudKitAccess {
    fileprivate init(_ value: DeclaredValue) throws(SyncError) {
      let (shape, object) = try value.variant([
        "serverToServer": [], "apiToken": ["webAuthToken"],
      ])
      guard shape == "apiToken" else {
        let key = try object.required("serverToServer").object(["keyID", "privateKey"])
        let (name, secret) = (try key.required("keyID").secret(), try key.required("privateKey").secret())
        let pem = try secret.read(during: "reading the private key")
        do {
          self = .serverToServer(
            try ServerToServerKey(keyID: name.read(), privateKey: SigningKey(pem: pem)))
        } catch {
          var named = error
          named.operation += " from \(secret)"
          throw named
        }
        return
      }
      let apiToken = try object.required("apiToken").secret()
      let token = try object.required("webAuthToken")
      _ = try token.secret()
      let place = try token.text()
      guard place.hasPrefix("file:") else {
        throw token.failure(
          "must be \"file:PATH\": each request brings the token for the next one, which is kept there.")
      }
      self = .user(apiToken: try apiToken.read(), token: try TokenFile(path: String(place.dropFirst(5))))
    }
  }
#endif
