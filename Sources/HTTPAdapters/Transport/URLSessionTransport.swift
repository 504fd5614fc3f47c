import Foundation
public import SyncModels
public import SyncPorts
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Carries requests by Foundation's `URLSession`, without its cookies, caches and stored passwords: the transport on Apple's platforms.
///
/// ```swift
/// let transport = URLSessionTransport()
/// ```
///
/// - Warning: Not on Linux, where `CurlTransport` of the product CurlAdapters takes its place. There, `URLSession` ends the process when a connection
///   ends inside an answer's headers; it waits for the deadline, on a busy processor, when a kept connection was closed before a PUT or POST was
///   answered; and it sends requests to the proxy that the environment names.
///
/// It asks for bodies that are not compressed and refuses others at their headers, so the limit counts what is kept. `URLSession` on
/// Linux would otherwise decompress by itself, half a gigabyte of half a megabyte. Its deadline is its own: there, `URLSession`'s are in whole
/// seconds. Connections are kept, and closed when the transport goes or a request is broken off.
public final class URLSessionTransport: HTTPTransport {
  /// Those that wait for a request. On Linux all transfers of a session share a queue, and one whose bytes come faster than they are taken
  /// keeps the others from it, their cancellation included; so each request has a session for itself.
  private let sessions = Mutex<[URLSession]>([])
  private let transfers = Transfers()
  private let clock: any SyncPorts.Clock<Duration>

  /// Prepares to carry requests.
  ///
  /// - Parameter clock: What deadlines are measured by.
  public init(clock: any SyncPorts.Clock<Duration> = ContinuousClock()) {
    self.clock = clock
  }

  deinit {
    for session in sessions.withLock({ $0 }) { session.finishTasksAndInvalidate() }
  }

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

    let session = sessions.withLock { $0.popLast() } ?? transfers.makeSession()
    let task = session.dataTask(with: wire)
    let transfer = Transfer(request, by: TaskCarrier(task: task))
    transfers.add(transfer, of: task)
    defer {
      transfers.remove(task)
      keep(session, if: !transfer.isBrokenOff)
    }
    return try await transfer.answer(by: clock)
  }

  /// Keeps a session and its connection for a later request, unless it is still busy with an answer that nobody waits for.
  private func keep(_ session: URLSession, if isFree: Bool) {
    let isKept = sessions.withLock { sessions in
      guard isFree, sessions.count < Self.sessionLimit else { return false }
      sessions.append(session)
      return true
    }
    if !isKept { session.finishTasksAndInvalidate() }
  }

  /// How many connections are kept for later.
  private static let sessionLimit = 8
}
