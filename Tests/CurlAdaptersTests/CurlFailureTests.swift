#if Curl && os(Linux)
  import CanonicalSyncCCurl
  @testable import CurlAdapters
  import HTTPAdapters
  import SyncModels
  import Testing

  @Suite("libcurl's failures")
  struct CurlFailureTests {
    /// The code for callers, and a part of the message for a person.
    private static let table: [(CURLcode, SyncError.Code, String)] = [
      (CURLE_UNSUPPORTED_PROTOCOL, .invalidResponse, "not HTTP"),
      (CURLE_WEIRD_SERVER_REPLY, .invalidResponse, "not HTTP"),
      (CURLE_URL_MALFORMAT, .invalidConfiguration, "libcurl cannot send"),
      (CURLE_COULDNT_RESOLVE_PROXY, .remoteUnavailable, "no connection"),
      (CURLE_COULDNT_RESOLVE_HOST, .remoteUnavailable, "no connection"),
      (CURLE_COULDNT_CONNECT, .remoteUnavailable, "no connection"),
      (CURLE_SSL_CONNECT_ERROR, .remoteUnavailable, "no connection"),
      (CURLE_OPERATION_TIMEDOUT, .remoteUnavailable, "within 10.0 seconds"),
      (CURLE_PARTIAL_FILE, .remoteUnavailable, "no complete answer"),
      (CURLE_GOT_NOTHING, .remoteUnavailable, "no complete answer"),
      (CURLE_SEND_ERROR, .remoteUnavailable, "no complete answer"),
      (CURLE_RECV_ERROR, .remoteUnavailable, "no complete answer"),
      (CURLE_HTTP2, .remoteUnavailable, "no complete answer"),
      (CURLE_HTTP2_STREAM, .remoteUnavailable, "no complete answer"),
      (CURLE_OUT_OF_MEMORY, .invalidResponse, "headers are longer"),
      (CURLcode(100), .invalidResponse, "headers are longer"),
      (CURLE_BAD_CONTENT_ENCODING, .invalidResponse, "compressed"),
      (CURLE_PEER_FAILED_VERIFICATION, .untrustedServer, "The certificate is not trusted"),
      (CURLE_SSL_ISSUER_ERROR, .untrustedServer, "The certificate is not trusted"),
      (CURLE_SSL_INVALIDCERTSTATUS, .untrustedServer, "The certificate is not trusted"),
      (CURLE_SSL_CACERT_BADFILE, .invalidConfiguration, "libcurl cannot send"),
      (CURLE_NOT_BUILT_IN, .invalidConfiguration, "libcurl cannot send"),
      (CURLcode(999), .remoteUnavailable, "no complete answer"),
    ]

    private func error(_ failure: CurlFailure) throws -> SyncError {
      let address = try #require(HTTPAddress("https://kinto.test/v1/?secret"))
      return failure.syncError(HTTPRequest("GET", address), CurlTransport.Options())
    }

    @Test(arguments: Self.table)
    func areToldByWhatACallerMayDo(_ code: CURLcode, _ meaning: SyncError.Code, _ words: String) throws {
      let error = try error(CurlFailure(code: code))
      #expect(error.code == meaning)
      #expect(error.message.contains(words), "\(error.message)")
      #expect(!error.description.contains("secret"))
      #expect(error.underlying is CurlFailure)
    }

    @Test func areNotRetriedWhenACertificateIsNotTrusted() throws {
      #expect(try !error(CurlFailure(code: CURLE_PEER_FAILED_VERIFICATION)).code.isRetryable)
    }

    @Test func tellOfTooManyOpenFiles() throws {
      let error = try error(CurlFailure(code: CURLE_COULDNT_CONNECT, systemError: EMFILE))
      #expect(error.code == .remoteUnavailable)
      #expect(error.message.contains("too many open files"))
    }
  }
#endif
