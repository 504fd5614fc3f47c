#if CloudKit
  import HTTPAdapters
  import SyncModels
  import SyncPorts
  import Synchronization

  /// Signs each request anew, or sends it with the user's token, one at a time.
  struct AuthorizedTransport: HTTPTransport {
    let access: CloudKitAccess
    let transport: any HTTPTransport
    let clock: any SyncPorts.Clock<Duration>
    private let turn = Turn()

    /// The header with the token for the next request.
    private static let nextToken = "X-Apple-CloudKit-Web-Auth-Token"

    init(_ access: CloudKitAccess, _ transport: any HTTPTransport, clock: any SyncPorts.Clock<Duration>) {
      self.access = access
      self.transport = transport
      self.clock = clock
    }

    func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      var request = request
      switch access {
      case .serverToServer(let key):
        let headers = try key.headers(path: request.address.path, body: request.body, at: clock.timestamp)
        for (name, value) in headers.fields { request.headers[name] = value }
        return try await transport.send(request)
      case .user(let apiToken, let keeper):
        try await turn.take()
        defer { turn.pass() }
        let token = try await keeper.current()
        request.address = HTTPAddress(
          request.address.origin, path: request.address.path,
          query:
            "ckAPIToken=\(PercentEncoding.encoded(apiToken))&ckWebAuthToken=\(PercentEncoding.encoded(token))"
        )
        let response = try await transport.send(request)
        if let next = response.headers[Self.nextToken], !next.isEmpty, next != token {
          guard next.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw SyncError(
              .invalidResponse, during: "keeping the next web auth token",
              "The service's next web auth token has a character that no token has.")
          }
          try await keeper.keep(next)
        }
        return response
      }
    }
  }

  /// Lets tasks act one at a time, in the order in which they asked.
  private final class Turn: Sendable {
    private struct State {
      var isTaken = false
      var nextID = 0
      var waiters: [(id: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    }
    private let state = Mutex(State())

    /// Waits for the turn.
    ///
    /// - Throws: `cancelled` if the task is cancelled meanwhile; the turn is then not taken.
    func take() async throws(SyncError) {
      let id = state.withLock { state in
        state.nextID += 1
        return state.nextID
      }
      let isMine = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          // The handler below may have run already.
          let outcome = state.withLock { state -> Bool? in
            if Task.isCancelled { return false }
            guard state.isTaken else {
              state.isTaken = true
              return true
            }
            state.waiters.append((id, continuation))
            return nil
          }
          if let outcome { continuation.resume(returning: outcome) }
        }
      } onCancel: {
        let waiter = state.withLock { state in
          let place = state.waiters.firstIndex { $0.id == id }
          return place.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: false)
      }
      guard isMine else { throw SyncError(.cancelled, during: "asking CloudKit") }
    }

    /// Ends the turn.
    func pass() {
      let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
        guard state.waiters.isEmpty else { return state.waiters.removeFirst().continuation }
        state.isTaken = false
        return nil
      }
      next?.resume(returning: true)
    }
  }
#endif
