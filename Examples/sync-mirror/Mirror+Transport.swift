#if SQLite
  import CanonicalSync
  import CurlAdapters
  import HTTPAdapters

  extension Mirror {
    /// What carries the requests: libcurl on Linux, where `URLSession` does not survive every server.
    static func transport() throws(SyncError) -> any HTTPTransport {
      #if !os(Linux)
        return URLSessionTransport()
      #elseif Curl
        return CurlTransport()
      #else
        throw SyncError(
          .invalidConfiguration, during: "preparing to ask a server",
          "sync-mirror was built without the trait Curl, which its requests need: build it with --traits Curl,SQLite."
        )
      #endif
    }
  }
#endif
