#if CloudKit
  import CanonicalSync
  import CloudKitAdapters
  import HTTPAdapters

  /// An engine for a public database, as the guide makes it.
  func cloudKitEngine(
    keyID: String, pem: String, schema: SyncSchema, store: any LocalStore, transport: any HTTPTransport
  ) async throws -> SyncEngine {
    let key = try ServerToServerKey(keyID: keyID, privateKey: SigningKey(pem: pem))
    let source = try CloudKitSource(
      CloudKitDatabase(container: "iCloud.com.example", environment: .production, scope: .public),
      access: .serverToServer(key),
      types: ["teams": CloudKitType("Team"), "games": CloudKitType("Game")], transport: transport)
    let engine = try await SyncEngine(
      schema: schema, store: store, source: source, sink: CloudKitSink(source))
    return engine
  }
#endif
