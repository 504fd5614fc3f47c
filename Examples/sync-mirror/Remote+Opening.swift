#if SQLite
  import CanonicalSync
  import CanonicalSyncToolSupport
  import Foundation
  import HTTPAdapters

  extension MirrorRemote {
    /// Opens the remote that the command line chooses.
    ///
    /// - Throws: `invalidConfiguration` if a file cannot be read or describes no remote.
    static func opened(
      _ options: MirrorOptions, onAlert: @escaping @Sendable (String) -> Void
    ) throws(SyncError) -> MirrorRemote {
      let settings = RemoteSettings(
        options: options, transport: try Mirror.transport(options), onAlert: onAlert)
      switch options.remote {
      case .kinto(let server, let bucket): return try kinto(server: server, bucket: bucket, settings)
      case .described(let kind, let file):
        let name = URL(filePath: file).lastPathComponent
        return try DescribedRemote.all[kind].open(try bytes(of: file), name, settings)
      }
    }

    /// The most bytes of a description.
    private static let limit = 1 << 20

    private static func bytes(of file: String) throws(SyncError) -> [UInt8] {
      func refuse(_ message: String, _ underlying: (any Error)? = nil) -> SyncError {
        SyncError(
          .invalidConfiguration, during: "reading a description", message, underlying: underlying)
      }
      let data: Data
      do {
        let handle = try FileHandle(forReadingFrom: URL(filePath: file))
        data = try handle.read(upToCount: limit + 1) ?? Data()
        try handle.close()
      } catch {
        throw refuse("\(file) cannot be opened. The reason: \(error.systemReason).", error)
      }
      guard data.count <= limit else { throw refuse("\(file) is longer than a description may be.") }
      return Array(data)
    }
  }
#endif
