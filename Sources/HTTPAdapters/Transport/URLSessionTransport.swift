import Foundation
public import SyncModels
public import SyncPorts

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Carries requests by Foundation's `URLSession`, without its cookies, caches and stored passwords.
///
/// ```swift
/// let transport = URLSessionTransport()
/// ```
///
/// It asks for bodies that are not compressed and refuses others at their headers, so the limit counts what is kept. `URLSession` on
/// Linux would otherwise decompress by itself, half a gigabyte of half a megabyte. Its deadline is its own: there, `URLSession`'s are in whole
/// seconds. Connections are kept, and closed when the transport goes.
public final class URLSessionTransport: HTTPTransport {
  private let session: URLSession
  private let transfers: Transfers
  private let clock: any SyncPorts.Clock<Duration>

  /// Prepares to carry requests.
  ///
  /// - Parameter clock: What deadlines are measured by.
  public init(clock: any SyncPorts.Clock<Duration> = ContinuousClock()) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCredentialStorage = nil
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    transfers = Transfers()
    session = URLSession(configuration: configuration, delegate: transfers, delegateQueue: nil)
    self.clock = clock
  }

  deinit { session.finishTasksAndInvalidate() }

  /// Sends a request, and returns the answer whatever its status says; see ``HTTPTransport/send(_:)``.
  public func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
    guard let url = URL(string: request.address.description) else {
      throw SyncError(
        .invalidConfiguration, during: "asking \(request.address.origin)", "The address is none.")
    }
    var wire = URLRequest(url: url)
    wire.httpMethod = request.method
    if !request.body.isEmpty { wire.httpBody = Data(request.body) }
    wire.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    for (name, value) in request.headers.fields { wire.setValue(value, forHTTPHeaderField: name) }
    wire.httpShouldHandleCookies = false
    // Only a second net below our own deadline: it starts again with each byte, and is cut to whole seconds.
    wire.timeoutInterval = (request.deadline.inSeconds + 2).rounded(.up)

    let transfer = Transfer(request, task: session.dataTask(with: wire))
    transfers.add(transfer)
    defer { transfers.remove(transfer) }
    return try await race(transfer, against: request.deadline).get()
  }

  private func race(
    _ transfer: Transfer, against deadline: Duration
  ) async -> Result<HTTPResponse, SyncError> {
    let clock = clock
    return await withTaskGroup(of: Result<HTTPResponse, SyncError>?.self) { group in
      group.addTask { await transfer.outcome() }
      group.addTask {
        do {
          try await clock.pause(for: deadline)
          return .failure(HTTPFailure.tooSlow(transfer.request))
        } catch {
          return nil
        }
      }
      // Whoever loses is cancelled, and waited for: nothing outlives the call.
      defer { group.cancelAll() }
      for await outcome in group {
        if let outcome { return outcome }
      }
      return .failure(HTTPFailure.cancelled(transfer.request))
    }
  }
}
