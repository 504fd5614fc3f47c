#if CloudKit && os(Linux)
  import CanonicalSyncCCrypto
  import Foundation
  import HTTPAdapters
  import InMemoryAdapters
  import SyncModels

  extension StandInCloudKit.State {
    /// Checks the signature or the tokens; returns the next web auth token.
    mutating func authenticate(_ call: Call) throws(Answer) -> String? {
      var parameters: [String: String] = [:]
      for part in call.query.split(separator: "&") {
        let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
        guard pair.count == 2 else { throw Answer("BAD_REQUEST", "a parameter has no value") }
        // As forms do it: a plus sign that is not encoded is a space.
        parameters[pair[0]] = pair[1].replacing("+", with: " ").removingPercentEncoding
      }
      let prefix = "X-Apple-CloudKit-Request-"
      let signature = call.headers["\(prefix)SignatureV1"]
      if let token = parameters["ckAPIToken"] {
        guard signature == nil else { throw Answer("AUTHENTICATION_FAILED", "two kinds of authentication") }
        return try authenticate(token, parameters["ckWebAuthToken"])
      }
      guard let signature, let date = call.headers["\(prefix)ISO8601Date"],
        let keyID = call.headers["\(prefix)KeyID"]
      else { throw Answer("AUTHENTICATION_FAILED", "no signature and no token") }
      guard call.database == "public" else {
        throw Answer("AUTHENTICATION_FAILED", "a server-to-server key is for the public database")
      }
      guard let signed = try? Date(date, strategy: .iso8601), date.utf8.count == 20 else {
        throw Answer("AUTHENTICATION_FAILED", "the date is not ISO 8601")
      }
      let age = abs(signed.timeIntervalSince1970 - Double(call.milliseconds) / 1000)
      guard age <= 600 else { throw Answer("AUTHENTICATION_FAILED", "the signature is too old") }
      let digest = Data(Self.digest(call.body)).base64EncodedString()
      guard keyID == settings.keyID, let bytes = Data(base64Encoded: signature),
        verifies(Array("\(date):\(digest):\(call.path)".utf8), Array(bytes))
      else { throw Answer("AUTHENTICATION_FAILED", "the signature does not match") }
      return nil
    }

    private mutating func authenticate(
      _ apiToken: String, _ webToken: String?
    ) throws(Answer) -> String? {
      guard apiToken == settings.apiToken else {
        throw Answer("AUTHENTICATION_FAILED", "unknown API token")
      }
      guard let webToken, webToken == self.webToken else {
        throw Answer("AUTHENTICATION_REQUIRED", "the web auth token is missing or spent")
      }
      guard settings.tokensAreForOneTrip else { return nil }
      tokensIssued += 1
      self.webToken = "t\(tokensIssued)+/=\(UInt32.random(in: 0...UInt32.max, using: &random))"
      return self.webToken
    }

    private static func digest(_ bytes: [UInt8]) -> [UInt8] {
      var digest = [UInt8](repeating: 0, count: 32)
      EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
      return digest
    }

    private func verifies(_ message: [UInt8], _ signature: [UInt8]) -> Bool {
      // The buffer object reads the bytes in place, as long as it lives.
      Array(settings.publicKey.utf8).withUnsafeBytes { pem in
        guard let input = BIO_new_mem_buf(pem.baseAddress, Int32(pem.count)) else { return false }
        defer { BIO_free(input) }
        guard let key = PEM_read_bio_PUBKEY(input, nil, nil, nil), let context = EVP_MD_CTX_new() else {
          return false
        }
        defer {
          EVP_PKEY_free(key)
          EVP_MD_CTX_free(context)
        }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
          && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
      }
    }
  }

  /// Times as the service's `Date` header has them.
  enum ServiceDate {
    static func text(_ time: Timestamp) -> String {
      let date = Date(timeIntervalSince1970: Double(time.microseconds / 1_000_000))
      let style = Date.VerbatimFormatStyle(
        format:
          "\(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) GMT",
        locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
      return date.formatted(style)
    }
  }

  extension StandInCloudKit {
    /// A new key: the private half and the public half, in PEM.
    package static func makeKey() throws -> (privateKey: String, publicKey: String) {
      guard let key = ccrypto_make_p256_key() else { throw CocoaError(.featureUnsupported) }
      defer { EVP_PKEY_free(key) }
      return (
        try text { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) },
        try text { PEM_write_bio_PUBKEY($0, key) }
      )
    }

    private static func text(_ write: (OpaquePointer) -> Int32) throws -> String {
      guard let output = BIO_new(BIO_s_mem()) else { throw CocoaError(.featureUnsupported) }
      defer { BIO_free(output) }
      guard write(output) == 1 else { throw CocoaError(.featureUnsupported) }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = BIO_read(output, &bytes, Int32(bytes.count))
      return String(decoding: bytes.prefix(max(0, Int(count))), as: UTF8.self)
    }
  }
#endif
