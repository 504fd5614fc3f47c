#if Curl && os(Linux)
  import CanonicalSyncCCurl
  import HTTPAdapters
  import SyncModels

  /// A failure that libcurl reports.
  struct CurlFailure: TransportFailure {
    var code: CURLcode
    /// The system's error number for a refused connection; 0 for none.
    var systemError: Int32 = 0
    var words = ""

    /// The meaning of libcurl's code for the request.
    enum Meaning: Hashable, Sendable {
      case cut, unreachable, slowToConnect, untrusted, noHTTP, headersTooLong, unreadableEncoding,
        misconfigured
    }

    /// The meaning of each of libcurl's codes. Any other code is a temporary failure of the
    /// connection.
    static func meaning(of code: CURLcode) -> Meaning {
      switch code {
      case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT,
        CURLE_INTERFACE_FAILED, CURLE_NO_CONNECTION_AVAILABLE, CURLE_SSL_CONNECT_ERROR:
        .unreachable
      case CURLE_OPERATION_TIMEDOUT: .slowToConnect
      case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
        CURLE_SSL_PINNEDPUBKEYNOTMATCH:
        .untrusted
      case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .noHTTP
      // Some headers of libcurl lack the second code, CURLE_TOO_LARGE. Before it existed, a line
      // that was too long took unlimited memory.
      case CURLE_OUT_OF_MEMORY, CURLcode(100): .headersTooLong
      case CURLE_BAD_CONTENT_ENCODING: .unreadableEncoding
      case CURLE_URL_MALFORMAT, CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION, CURLE_BAD_FUNCTION_ARGUMENT,
        CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
        CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED:
        .misconfigured
      default: .cut
      }
    }

    var mayHaveArrived: Bool {
      switch Self.meaning(of: code) {
      case .unreachable, .slowToConnect, .untrusted, .misconfigured: false
      case .cut, .noHTTP, .headersTooLong, .unreadableEncoding: true
      }
    }

    /// The error of a request.
    func syncError(_ request: HTTPRequest, _ options: CurlTransport.Options) -> SyncError {
      func error(_ code: SyncError.Code, _ message: String) -> SyncError {
        SyncError(code, during: HTTPFailure.asking(request), message, underlying: self)
      }
      return switch Self.meaning(of: code) {
      case .cut: HTTPFailure.cut(request, underlying: self)
      case .unreachable where systemError == EMFILE || systemError == ENFILE:
        Self.noResources(systemError, request)
      case .unreachable: error(.remoteUnavailable, "There is no connection to \(request.address.origin).")
      case .slowToConnect:
        error(
          .remoteUnavailable,
          "There was no connection to \(request.address.origin) within \(options.connectDeadline).")
      case .untrusted: HTTPFailure.untrusted(request, reason: reason, underlying: self)
      case .noHTTP: HTTPFailure.noHTTP(request, underlying: self)
      case .headersTooLong:
        HTTPFailure.tooManyHeaders(request, limit: options.headerLimit, underlying: self)
      case .unreadableEncoding:
        error(.invalidResponse, "The answer's body is compressed in a way that cannot be read.")
      case .misconfigured:
        error(.invalidConfiguration, "libcurl cannot send the request: \(reason).")
      }
    }

    /// The error of a request for which the system has no thread or no descriptor.
    static func noResources(_ number: Int32, _ request: HTTPRequest) -> SyncError {
      let isFull = number == EMFILE || number == ENFILE
      return SyncError(
        .remoteUnavailable, during: HTTPFailure.asking(request),
        isFull
          ? "There are too many open files to connect to \(request.address.origin)."
          : "The system has no thread for sending requests.",
        underlying: CurlFailure(code: CURLE_FAILED_INIT, systemError: number))
    }

    /// libcurl's message about the connection, without any received bytes.
    private var reason: String { words.isEmpty ? String(cString: curl_easy_strerror(code)) : words }
  }

  extension CurlFailure: CustomStringConvertible {
    var description: String { "libcurl: \(reason) (\(code.rawValue))" }
  }
#endif
