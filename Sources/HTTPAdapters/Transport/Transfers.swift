import Foundation
import SyncModels
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The transfers of one session, each of which receives its own events.
final class Transfers: NSObject, URLSessionDataDelegate {
  private let running = Mutex<[ObjectIdentifier: Transfer]>([:])

  /// Creates a session without state of the process, whose delegate is this object.
  func makeSession() -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCredentialStorage = nil
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    #if canImport(FoundationNetworking)
      return URLSession(configuration: configuration, delegate: self, delegateQueue: ImmediateQueue())
    #else
      return URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    #endif
  }

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
    transfer.complete(error.map { HTTPFailure.failure($0, transfer.request) })
  }

  /// Refuses a redirect. The redirect itself becomes the answer.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  /// Answers no authentication challenge. The refusal itself becomes the answer.
  ///
  /// The request already holds the credentials of its origin. On Linux the challenge comes when the
  /// refusal has arrived completely, and the default handling of a challenge without stored
  /// credentials never ends the task.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    #if canImport(FoundationNetworking)
      transfer(of: task)?.complete()
      // Called elsewhere: it waits for the queue that this method runs on. It is called once.
      nonisolated(unsafe) let answer = completionHandler
      DispatchQueue.global().async { answer(.cancelAuthenticationChallenge, nil) }
    #else
      completionHandler(.performDefaultHandling, nil)
    #endif
  }
}

extension HTTPFailure {
  /// The error for a failure of Foundation's.
  fileprivate static func failure(_ error: any Error, _ request: HTTPRequest) -> SyncError {
    switch (error as? URLError)?.code {
    case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
      .serverCertificateNotYetValid:
      untrusted(request, underlying: error)
    default: cut(request, underlying: error)
    }
  }
}

/// A session's task as the carrier of a transfer.
struct TaskCarrier: TransferCarrier {
  let task: URLSessionDataTask

  // Run elsewhere: on Linux this may wait for the session's queue, and return when the answer has
  // ended.
  func begin(_ transfer: Transfer) { DispatchQueue.global().async { [task] in task.resume() } }

  // Run elsewhere: on Linux this waits for the session's queue, which fast incoming bytes keep
  // busy.
  func giveUp(_ transfer: Transfer) { DispatchQueue.global().async { [task] in task.cancel() } }
}

#if canImport(FoundationNetworking)
  /// Calls the delegate on the receiving thread, so no more is read until it returns.
  ///
  /// On any other queue, the bytes of a fast server wait in memory without limit.
  private final class ImmediateQueue: OperationQueue, @unchecked Sendable {
    // It has no state of its own, and its superclass is as safe as before.
    override init() {
      super.init()
      // Other operations keep their order.
      maxConcurrentOperationCount = 1
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
  }
#endif
