#if SQLite
  import CanonicalSync
  import CurlAdapters
  import HTTPAdapters

  extension Mirror {
    /// The transport: libcurl on Linux, where `URLSession` crashes with some servers.
    static func transport(_ options: MirrorOptions) throws(SyncError) -> any HTTPTransport {
      #if canImport(Darwin)
        guard options.authorities == nil else {
          throw SyncError(
            .invalidConfiguration, during: "preparing to ask a server",
            "--certificate-authorities is for Linux; here, the system's keychain says which are trusted.")
        }
        return URLSessionTransport()
      #elseif Curl
        var settings = CurlTransport.Options()
        settings.certificateAuthorities = options.authorities
        return CurlTransport(options: settings)
      #else
        throw SyncError(
          .invalidConfiguration, during: "preparing to ask a server",
          "sync-mirror was built without the trait Curl, which its requests need: build it with --traits Curl,SQLite."
        )
      #endif
    }
  }
#endif
