import Foundation
import SyncModels
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The transfers of one session: hands each what comes for it.
final class Transfers: NSObject, URLSessionDataDelegate {
  private let running = Mutex<[ObjectIdentifier: Transfer]>([:])

  /// A session that brings nothing of the process along, and whose transfers are these.
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

  /// Refuses: the redirect itself becomes the answer.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  /// Answers no demand for credentials: those that belong to an origin are in the request, and the refusal itself becomes the answer.
  ///
  /// On Linux the demand comes when the refusal is there whole, and the default handling of one without stored
  /// credentials never ends the task.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    #if canImport(FoundationNetworking)
      transfer(of: task)?.complete()
      // Elsewhere: it waits for the queue that this is called on. It is called once, and by nobody else.
      nonisolated(unsafe) let answer = completionHandler
      DispatchQueue.global().async { answer(.cancelAuthenticationChallenge, nil) }
    #else
      completionHandler(.performDefaultHandling, nil)
    #endif
  }
}

extension HTTPFailure {
  /// What an error of Foundation's means.
  fileprivate static func failure(_ error: any Error, _ request: HTTPRequest) -> SyncError {
    switch (error as? URLError)?.code {
    case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
      .serverCertificateNotYetValid:
      untrusted(request, underlying: error)
    default: cut(request, underlying: error)
    }
  }
}

/// A session's task as what carries a transfer.
struct TaskCarrier: TransferCarrier {
  let task: URLSessionDataTask

  // Elsewhere: on Linux this may wait for the session's queue, and return when the answer has ended.
  func begin(_ transfer: Transfer) { DispatchQueue.global().async { [task] in task.resume() } }

  // Elsewhere: on Linux this waits for the session's queue, which bytes that come faster than they are taken keep busy.
  func giveUp(_ transfer: Transfer) { DispatchQueue.global().async { [task] in task.cancel() } }
}

#if canImport(FoundationNetworking)
  /// Calls the delegate where the bytes come in, so that no more are read before it has taken them.
  ///
  /// On any other queue, what a fast server sends waits in memory, however much it is.
  private final class ImmediateQueue: OperationQueue, @unchecked Sendable {
    // It has no state of its own, and its parent's is as safe as before.
    override init() {
      super.init()
      // Whatever comes in another way keeps its order.
      maxConcurrentOperationCount = 1
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
  }
#endif
