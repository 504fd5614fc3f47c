#if Postgres
  import SyncModels

  /// A failure of PostgreSQL, without SQL, contents or secrets.
  struct PostgresFailure: Error, CustomStringConvertible {
    /// The SQLSTATE; empty if the server gave none.
    var state: String
    /// Whether the connection is lost, so that only a new one helps.
    var isConnectionLost: Bool
    /// The words about a failed attempt to connect, which name no secret.
    var connecting: String?
    /// The library's code for it; `nil` takes the one of the SQLSTATE.
    var code: SyncError.Code?
    /// Whether a pooler lends sessions for single statements, and refuses transactions.
    var isOfStatementPooling = false

    var description: String {
      let code = state.isEmpty ? "PostgreSQL" : "PostgreSQL \(state)"
      return isConnectionLost ? "\(code): the connection is lost" : "\(code): \(advice)"
    }

    init(state: String, isConnectionLost: Bool, connecting: String? = nil, code: SyncError.Code? = nil) {
      self.code = code
      self.state = state
      self.connecting = connecting
      // The server ends a connection: it shuts down, restarts, or the transaction was idle too
      // long.
      let ends = ["57P01", "57P02", "57P03", "57P05", "25P03", "25P04"]
      self.isConnectionLost = isConnectionLost || state.hasPrefix("08") || ends.contains(state)
    }
  }

  extension PostgresFailure: StoreCause {
    /// The state of a statement that has waited for a lock too long.
    static let lockTimeout = "55P03"

    var isOutsideStore: Bool {
      isConnectionLost || connecting != nil || state.hasPrefix("53") || state.hasPrefix("57")
    }

    /// Whether the same transaction may succeed at once: it met another one.
    var isContention: Bool { state == "40001" || state == "40P01" }

    /// The library's error code for an SQLSTATE. No other code translates them.
    var meaning: SyncError.Code {
      switch state {
      case "40001", "40P01", Self.lockTimeout, "55006", "53300", "57014": .storeBusy
      case "53100": .storeFull
      case "25006": .storeReadOnly
      case "42501": .permissionDenied
      case "28000", "28P01": .authentication
      case "3D000", "3F000": .invalidConfiguration
      case "XX001", "XX002", "42P01", "42703": .storeUnreadable
      default: .storeFailure
      }
    }

    private var advice: String {
      switch meaning {
      case .storeBusy where state == "53300": "The server has no connection left; lower the pools' sizes."
      case .storeBusy where state == "57014": "The server took longer than the statement timeout."
      case .storeBusy: "Other transactions kept the store locked for longer than the busy timeout."
      case .storeFull: "The server's disk is full."
      case .storeReadOnly:
        "The server only reads: it is a standby in recovery, or default_transaction_read_only is on."
      case .permissionDenied: "The role lacks a right; the owner of the schema has to grant it."
      case .authentication: "The server refuses the role or its password."
      case .invalidConfiguration: "There is no such database or schema."
      case .storeUnreadable: "The store's tables are damaged, or another program changed them."
      default: "The server failed with SQLSTATE \(state.isEmpty ? "unknown" : state)."
      }
    }

    /// The failure as the port's error.
    func error(during operation: String) -> SyncError {
      if let connecting {
        return SyncError(
          code ?? (state.isEmpty ? .storeFailure : meaning), during: operation,
          connecting, underlying: self)
      }
      if isConnectionLost {
        return SyncError(
          .storeFailure, during: operation,
          "The connection to PostgreSQL was lost; the transaction was rolled back.", underlying: self)
      }
      return SyncError(meaning, during: operation, advice, underlying: self)
    }
  }
#endif
