#if canImport(Darwin)
  import Foundation
  public import SyncModels
  public import SyncPorts
  import Synchronization

  /// Carries requests by Foundation's `URLSession`: the transport on Apple's platforms.
  ///
  /// ```swift
  /// let transport = URLSessionTransport()
  /// ```
  ///
  /// It uses none of `URLSession`'s cookies, caches and stored passwords. It requests bodies that
  /// are not compressed and refuses others at their headers, so the limit counts the bytes that are
  /// kept. The transport measures the deadline itself. Connections are kept until the transport is
  /// released.
  public final class URLSessionTransport: HTTPTransport {
    private let transfers = SessionTransfers()
    private let session: URLSession
    private let clock: any SyncPorts.Clock<Duration>

    /// Creates a transport.
    ///
    /// - Parameter clock: Measures the deadlines.
    public init(clock: any SyncPorts.Clock<Duration> = ContinuousClock()) {
      self.clock = clock
      let configuration = URLSessionConfiguration.ephemeral
      configuration.httpCookieStorage = nil
      configuration.httpShouldSetCookies = false
      configuration.urlCredentialStorage = nil
      configuration.urlCache = nil
      configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
      session = URLSession(configuration: configuration, delegate: transfers, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Sends a request, and returns the answer whatever its status.
    ///
    /// See ``HTTPTransport/send(_:)``.
    public func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      guard let url = URL(string: request.address.description) else {
        throw SyncError(
          .invalidConfiguration, during: HTTPFailure.asking(request), "The address is invalid.")
      }
      var wire = URLRequest(url: url)
      wire.httpMethod = request.method
      if !request.body.isEmpty { wire.httpBody = Data(request.body) }
      wire.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
      for (name, value) in request.headers.fields { wire.setValue(value, forHTTPHeaderField: name) }
      wire.httpShouldHandleCookies = false
      // Only a safety net one second after our own deadline: it restarts with each byte, and is cut
      // to whole seconds.
      wire.timeoutInterval = (request.deadline.inSeconds + 2).rounded(.up)

      let task = session.dataTask(with: wire)
      let transfer = Transfer(request, by: TaskCarrier(task: task))
      transfers.add(transfer, of: task)
      defer { transfers.remove(task) }
      return try await transfer.answer(by: clock)
    }
  }

  /// A session's task as the carrier of a transfer.
  private struct TaskCarrier: TransferCarrier {
    let task: URLSessionDataTask

    func begin(_ transfer: Transfer) { task.resume() }
    func giveUp(_ transfer: Transfer) { task.cancel() }
  }

  /// The transfers of a session, each of which receives its own events.
  private final class SessionTransfers: NSObject, URLSessionDataDelegate {
    private let running = Mutex<[ObjectIdentifier: Transfer]>([:])

    func add(_ transfer: Transfer, of task: URLSessionTask) {
      running.withLock { $0[ObjectIdentifier(task)] = transfer }
    }

    func remove(_ task: URLSessionTask) {
      _ = running.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }
    }

    private func transfer(of task: URLSessionTask) -> Transfer? {
      running.withLock { $0[ObjectIdentifier(task)] }
    }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
      if let transfer = transfer(of: dataTask), let response = response as? HTTPURLResponse {
        var head = HTTPResponse(status: response.statusCode)
        for (name, value) in response.allHeaderFields {
          if let name = name as? String { head.headers[name] = "\(value)" }
        }
        transfer.receive(head, BodyFraming(head.headers))
      }
      completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      transfer(of: dataTask)?.receive(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      guard let transfer = transfer(of: task) else { return }
      transfer.complete(error.map { Self.failure($0, transfer.request) })
    }

    /// The error for a failure of Foundation's.
    private static func failure(_ error: any Error, _ request: HTTPRequest) -> SyncError {
      switch (error as? URLError)?.code {
      case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
        .serverCertificateNotYetValid:
        HTTPFailure.untrusted(request, underlying: error)
      default: HTTPFailure.cut(request, underlying: error)
      }
    }

    /// Refuses a redirect. The redirect itself becomes the answer.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
      completionHandler(nil)
    }
  }
#endif
