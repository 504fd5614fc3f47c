import Foundation
public import SyncModels
public import SyncPorts
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Carries requests by Foundation's `URLSession`: the transport on Apple's platforms.
///
/// ```swift
/// let transport = URLSessionTransport()
/// ```
///
/// - Warning: Not for Linux, where `CurlTransport` of the product CurlAdapters takes its place.
///   There, `URLSession` ends the process when a connection ends inside an answer's headers. It
///   waits for the deadline, on a busy processor, when a kept connection was closed before a PUT or
///   POST was answered. It sends requests to the proxy that the environment names.
///
/// It uses none of `URLSession`'s cookies, caches and stored passwords. It requests bodies that are
/// not compressed and refuses others at their headers, so the limit counts the bytes that are kept.
/// `URLSession` on Linux would otherwise decompress half a megabyte to half a gigabyte by itself.
/// The transport measures the deadline itself: there, `URLSession`'s deadlines are in whole
/// seconds. Connections are kept, and closed when the transport is released or a request is broken
/// off.
public final class URLSessionTransport: HTTPTransport {
  /// The sessions that wait for a request.
  ///
  /// On Linux all transfers of a session share a queue. A transfer whose bytes arrive faster than
  /// they are taken blocks the others, and their cancellation. So each request has a session for
  /// itself.
  private let sessions = Mutex<[URLSession]>([])
  private let transfers = Transfers()
  private let clock: any SyncPorts.Clock<Duration>

  /// Creates a transport.
  ///
  /// - Parameter clock: Measures the deadlines.
  public init(clock: any SyncPorts.Clock<Duration> = ContinuousClock()) {
    self.clock = clock
  }

  deinit {
    for session in sessions.withLock({ $0 }) { session.finishTasksAndInvalidate() }
  }

  /// Sends a request, and returns the answer whatever its status.
  ///
  /// See ``HTTPTransport/send(_:)``.
  public func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
    guard let url = URL(string: request.address.description) else {
      throw SyncError(
        .invalidConfiguration, during: "asking \(request.address.origin)", "The address is invalid.")
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

    let session = sessions.withLock { $0.popLast() } ?? transfers.makeSession()
    let task = session.dataTask(with: wire)
    let transfer = Transfer(request, by: TaskCarrier(task: task))
    transfers.add(transfer, of: task)
    defer {
      transfers.remove(task)
      keep(session, if: !transfer.isAborted)
    }
    return try await transfer.answer(by: clock)
  }

  /// Keeps a session and its connection for a later request.
  ///
  /// A session that still receives an abandoned answer is not kept.
  private func keep(_ session: URLSession, if isFree: Bool) {
    let isKept = sessions.withLock { sessions in
      guard isFree, sessions.count < Self.sessionLimit else { return false }
      sessions.append(session)
      return true
    }
    if !isKept { session.finishTasksAndInvalidate() }
  }

  /// The number of connections that are kept.
  private static let sessionLimit = 8
}
