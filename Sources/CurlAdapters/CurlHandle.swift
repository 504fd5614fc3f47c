#if Curl && os(Linux)
  import CanonicalSyncCCurl
  import HTTPAdapters
  import SyncModels

  /// One transfer as a libcurl handle, on the driver's thread.
  final class CurlHandle {
    let transfer: Transfer
    let easy: UnsafeMutableRawPointer
    private let options: CurlTransport.Options
    private let words: UnsafeMutablePointer<CChar>
    private var fields: UnsafeMutablePointer<curl_slist>?
    private var head: AnswerHead

    /// Creates the handle of a transfer.
    ///
    /// - Parameter idleTime: The longest idle time of a kept connection that may be used.
    init(_ transfer: Transfer, _ options: CurlTransport.Options, idleTime: Duration) throws(CurlFailure) {
      guard let easy = curl_easy_init() else { throw CurlFailure(code: CURLE_FAILED_INIT) }
      self.easy = easy
      self.transfer = transfer
      self.options = options
      words = .allocate(capacity: Int(CURL_ERROR_SIZE))
      words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
      let wanted = transfer.request.headers["Accept-Encoding"] ?? "identity"
      let encodings = wanted.lowercased() == "identity" ? nil : wanted
      head = AnswerHead(limit: options.headerLimit, isDecoded: encodings != nil)
      try configure(idleTime)
      try setRequest(transfer.request, encodings: encodings)
    }

    deinit {
      curl_easy_cleanup(easy)
      curl_slist_free_all(fields)
      words.deallocate()
    }

    private func configure(_ idleTime: Duration) throws(CurlFailure) {
      try check(ccurl_set_manners(easy))
      try check(ccurl_set_error_text(easy, words))
      try check(
        ccurl_set_receivers(
          easy, CurlHandle.receiveHeader, CurlHandle.receiveBody, Unmanaged.passUnretained(self).toOpaque()))
      try set(CURLOPT_FOLLOWLOCATION, 0)
      try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
      try set(CURLOPT_MAXAGE_CONN, Self.clamped(idleTime / .seconds(1)))
      try set(CURLOPT_CONNECTTIMEOUT_MS, Self.clamped(options.connectDeadline / .milliseconds(1)))
      // An empty name means no proxy, whatever the environment says.
      try set(CURLOPT_PROXY, options.proxy?.description ?? "")
      try set(CURLOPT_NOPROXY, options.proxy == nil ? "*" : "")
      try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
      try set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
      if let path = options.certificateAuthorities {
        try set(CURLOPT_CAINFO, path)
        try check(ccurl_set_text(easy, CURLOPT_CAPATH, nil))
      }
    }

    private func setRequest(_ request: HTTPRequest, encodings: String?) throws(CurlFailure) {
      try set(CURLOPT_URL, request.address.description)
      // A path segment such as `..` may be a record's name.
      try set(CURLOPT_PATH_AS_IS, 1)
      if !request.mayBeRepeated {
        // On a kept connection that ends without an answer, libcurl would send the request again.
        try set(CURLOPT_FRESH_CONNECT, 1)
        try set(CURLOPT_FORBID_REUSE, 1)
      }
      var lines: [(name: String, value: String?)] = request.headers.fields.filter {
        encodings == nil || $0.name != "accept-encoding"
      }
      if encodings == nil, request.headers["Accept-Encoding"] == nil {
        lines.append(("accept-encoding", "identity"))
      }
      if request.method == "HEAD" {
        try set(CURLOPT_NOBODY, 1)
      } else if request.method == "POST" || request.method == "PUT" || !request.body.isEmpty {
        let code = request.body.withUnsafeBytes { ccurl_set_body(easy, $0.baseAddress, $0.count) }
        try check(code)
        // libcurl would add a content type, and an `Expect` header for a long body.
        if request.headers["Content-Type"] == nil { lines.append(("content-type", nil)) }
        lines.append(("expect", nil))
      }
      if request.method != "HEAD", request.method != "GET" || !request.body.isEmpty {
        try set(CURLOPT_CUSTOMREQUEST, request.method)
      }
      if let encodings { try set(CURLOPT_ACCEPT_ENCODING, encodings) }
      for (name, value) in lines { try add(name, value) }
      try check(ccurl_set_headers(easy, fields))
    }

    /// Adds a header. Without a value, libcurl's own header is left out.
    private func add(_ name: String, _ value: String?) throws(CurlFailure) {
      let line = value.map { $0.isEmpty ? "\(name);" : "\(name): \($0)" } ?? "\(name):"
      guard let longer = curl_slist_append(fields, line) else {
        throw CurlFailure(code: CURLE_FAILED_INIT)
      }
      fields = longer
    }

    /// A number of units as libcurl takes it: at least one, because zero means its default.
    private static func clamped(_ number: Double) -> Int { Int(min(max(1, number), Double(Int32.max))) }

    private func set(_ option: CURLoption, _ value: Int) throws(CurlFailure) {
      try check(ccurl_set_number(easy, option, value))
    }

    private func set(_ option: CURLoption, _ value: String) throws(CurlFailure) {
      try check(ccurl_set_text(easy, option, value))
    }

    private func check(_ code: CURLcode) throws(CurlFailure) {
      if code != CURLE_OK { throw CurlFailure(code: code) }
    }

    // MARK: The answer

    /// The error at the end of a transfer; `nil` if libcurl reports a complete answer.
    func failure(_ code: CURLcode) -> SyncError? {
      if code == CURLE_OK {
        // libcurl accepts the connection's end as the headers' end.
        return head.isWhole ? nil : HTTPFailure.cut(transfer.request)
      }
      let failure = CurlFailure(
        code: code, systemError: Int32(clamping: ccurl_number(easy, CURLINFO_OS_ERRNO)),
        words: String(cString: words))
      return failure.syncError(transfer.request, options)
    }

    private func take(_ line: UnsafeRawBufferPointer) -> Bool {
      transfer.receiveFirstByte()
      switch head.take(line) {
      case .more: break
      case .whole(let answer, let framing): transfer.receive(answer, framing)
      case .tooLong:
        transfer.abort(HTTPFailure.tooManyHeaders(transfer.request, limit: options.headerLimit))
      case .noHTTP: transfer.abort(HTTPFailure.noHTTP(transfer.request))
      }
      return !transfer.isOver
    }

    private static let receiveHeader: ccurl_receiver = { bytes, size, count, context in
      CurlHandle.received(bytes, size * count, context) { $0.take($1) }
    }

    private static let receiveBody: ccurl_receiver = { bytes, size, count, context in
      CurlHandle.received(bytes, size * count, context) { $0.transfer.receive($1) }
    }

    /// Passes bytes to their handle, and tells libcurl whether to continue.
    private static func received(
      _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
      _ take: (CurlHandle, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
      guard let context else { return 0 }
      let handle = Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue()
      // Any other number than the count stops the transfer.
      return take(handle, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : count + 1
    }
  }
#endif
