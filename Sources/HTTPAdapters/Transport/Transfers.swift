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

  func add(_ transfer: Transfer) {
    running.withLock { $0[transfer.id] = transfer }
  }

  func remove(_ transfer: Transfer) {
    _ = running.withLock { $0.removeValue(forKey: transfer.id) }
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
      transfer.receive(head, expecting: response.expectedContentLength)
    }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    transfer(of: dataTask)?.receive(data)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    transfer(of: task)?.complete(error)
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
      transfer(of: task)?.complete(nil)
      // Elsewhere: it waits for the queue that this is called on. It is called once, and by nobody else.
      nonisolated(unsafe) let answer = completionHandler
      DispatchQueue.global().async { answer(.cancelAuthenticationChallenge, nil) }
    #else
      completionHandler(.performDefaultHandling, nil)
    #endif
  }
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
