#if SQLite
  import CanonicalSync
  import HTTPAdapters
  import KintoAdapters

  extension MirrorRemote {
    /// A bucket of a Kinto server.
    static func kinto(
      server: String, bucket: String, _ settings: RemoteSettings
    ) throws(SyncError) -> MirrorRemote {
      let collections = settings.options.collections
      var options = KintoSource.Options()
      options.allowsPlainHTTP =
        settings.options.allowsPlainHTTP || HTTPAddress(server)?.origin.isLoopback == true
      options.bodyLimit = settings.bodyLimit
      options.deadline = settings.options.timeout
      options.missingCollectionsAreEmpty = collections.isEmpty
      let source = try KintoSource(
        server: server, bucket: bucket, credentials: settings.options.credentials, options: options,
        transport: settings.transport, onAlert: settings.onAlert)
      return MirrorRemote(
        source: source, sink: KintoSink(source),
        types: collections.isEmpty
          ? .listed { () throws(SyncError) in try await source.collections() }
          : .named(collections.map { RecordType($0) }),
        emptiness: "The bucket \(bucket) has no collection that these credentials may see.")
    }
  }
#endif
