import Foundation
import SyncModels
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The transfers of one session: hands each what comes for it.
final class Transfers: NSObject, URLSessionDataDelegate {
  private let running = Mutex<[Int: Transfer]>([:])

  func add(_ transfer: Transfer) {
    running.withLock { $0[transfer.id] = transfer }
  }

  func remove(_ transfer: Transfer) {
    _ = running.withLock { $0.removeValue(forKey: transfer.id) }
  }

  private func transfer(of task: URLSessionTask) -> Transfer? {
    running.withLock { $0[task.taskIdentifier] }
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
      completionHandler(.cancelAuthenticationChallenge, nil)
    #else
      completionHandler(.performDefaultHandling, nil)
    #endif
  }
}
