#if CloudKit
  import HTTPAdapters
  import SyncJSON
  import SyncModels

  /// An error of the service for a request, a zone or a record.
  struct ServiceFailure: Error {
    /// The service's code, such as `CONFLICT`.
    var code: String
    /// The service's words. They may name fields, and stay out of what is said about edits.
    var reason = ""
    /// The seconds after which another attempt makes sense.
    var retryAfter: Double?
    var redirect: String?
    var status = 200

    /// Reads an error dictionary; `nil` for any other object.
    init?(_ bytes: ArraySlice<UInt8>, status: Int = 200) {
      self.code = ""
      var code: String?
      do {
        try JSONScanner.members(of: bytes, depthLimit: .max) { member throws(JSONError) in
          switch member.key {
          case "serverErrorCode": code = member.value.string() ?? "an unknown error"
          case "reason": reason = member.value.string() ?? ""
          case "retryAfter": retryAfter = member.value.double()
          case "redirectURL": redirect = member.value.string()
          default: break
          }
        }
      } catch {
        return nil
      }
      guard let code else { return nil }
      self.code = code
      self.status = status
    }

    /// Reads the error of a whole answer; `nil` for a good one.
    init?(_ response: HTTPResponse) {
      if let failure = ServiceFailure(response.body[...], status: response.status) {
        self = failure
      } else if let code = response.headers["error_code"], response.status >= 400 {
        // A front of the service that knows no more than a code.
        self.code = code
        status = response.status
      } else {
        return nil
      }
      retryAfter = retryAfter ?? response.headers["Retry-After"].flatMap { Double($0) }
    }

    /// The pause that the service requests. It may exceed a day.
    var pause: Duration? {
      guard let retryAfter, retryAfter.isFinite, retryAfter >= 0 else { return nil }
      return .seconds(Int64(min(retryAfter.rounded(.up), 31_536_000)))
    }

    /// Whether the whole database is closed until the pause is over.
    var closesDatabase: Bool { pause != nil && ["THROTTLED", "TRY_AGAIN_LATER"].contains(code) }

    /// Whether the same request may succeed later.
    var isTransient: Bool {
      ["THROTTLED", "TRY_AGAIN_LATER", "INTERNAL_ERROR"].contains(code) || pause != nil || status >= 500
    }

    /// Whether a change token is no longer valid.
    ///
    /// Apple's table has no code for it. These spellings were seen or handled by others.
    var voidsToken: Bool {
      if code == "CHANGE_TOKEN_EXPIRED" { return true }
      let words = reason.lowercased()
      return words.contains("continuation type") || words.contains("client knowledge")
        || words.contains("sync token") || words.contains("synctoken") || words.contains("change token")
    }

    /// The index that the schema lacks; `nil` for another failure.
    ///
    /// The service says: Field '___modTime' is not marked queryable.
    private var missingIndex: (field: String, kind: String)? {
      let words = reason.lowercased()
      guard
        let kind = ["queryable", "sortable", "searchable"].first(where: { words.contains("marked \($0)") })
      else { return nil }
      let parts = reason.split(separator: "'", omittingEmptySubsequences: false)
      let field = parts.count >= 3 ? String(parts[1]) : "a field"
      return (field, kind)
    }

    /// The error for a caller.
    ///
    /// - Parameter recordType: The record type in CloudKit that the request was about.
    func error(during operation: String, recordType: String?, skew: String? = nil) -> SyncError {
      let said = "CloudKit answered \(Self.shown(code, 40))\(status == 200 ? "" : " (\(status))")"
      func error(_ code: SyncError.Code, _ message: String, _ underlying: (any Error)? = nil) -> SyncError {
        SyncError(
          code, during: operation, "\(said)\(message)", retryAfter: code == .remoteUnavailable ? pause : nil,
          underlying: underlying ?? self)
      }
      if let (field, kind) = missingIndex {
        return error(
          .invalidConfiguration,
          ": the schema does not permit the query. Mark the field \(Self.shown(field, 60)) of the record type \(recordType ?? "") as \(kind) (Schema, Indexes in the CloudKit console), and deploy the schema to production."
        )
      }
      switch code {
      case "AUTHENTICATION_FAILED":
        let hint = skew ?? "Check the key's id, the private key, the container and the environment."
        return error(.authentication, ": the key or its signature is not accepted. \(hint)")
      case "AUTHENTICATION_REQUIRED":
        return error(
          .authentication,
          ": the web auth token is missing, spent or too old. The user has to sign in again.",
          SignInRequired(page: redirect))
      case "ACCESS_DENIED":
        return error(.permissionDenied, ": this key or user may not do that.")
      case "QUOTA_EXCEEDED": return error(.quotaExceeded, ": the storage is full.")
      case "ZONE_NOT_FOUND":
        return error(.invalidConfiguration, ": the database has no such zone.")
      case "NOT_FOUND":
        return error(
          .invalidConfiguration,
          ": there is no record type \(recordType ?? "") here, or no such container. \(shownReason)")
      case _ where isTransient: return error(.remoteUnavailable, ".")
      case "BAD_REQUEST":
        return error(.invalidConfiguration, ": the request is not understood. \(shownReason)")
      default: return error(.invalidResponse, ", a code that is not known here. \(shownReason)")
      }
    }

    /// The service's words, fit for a message about a request that only reads.
    private var shownReason: String {
      reason.isEmpty ? "" : "It said: \(Self.shown(reason, 200))"
    }

    private static func shown(_ text: String, _ most: Int) -> String {
      let plain = String(
        String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
      return plain.count > most ? "\(plain.prefix(most))…" : plain
    }
  }
#endif
