import Foundation
import SyncModels
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request on its way: what came in of its answer, and who waits for the end.
final class Transfer: Sendable {
  private struct State {
    var head: HTTPResponse?
    var body: [UInt8] = []
    var outcome: Result<HTTPResponse, SyncError>?
    var waiter: CheckedContinuation<Result<HTTPResponse, SyncError>, Never>?
  }

  let request: HTTPRequest
  private let task: URLSessionDataTask
  private let state = Mutex(State())

  var id: Int { task.taskIdentifier }

  init(_ request: HTTPRequest, task: URLSessionDataTask) {
    self.request = request
    self.task = task
  }

  /// Starts, and returns when the answer is whole or the transfer has failed; a cancelled task ends it at once.
  func outcome() async -> Result<HTTPResponse, SyncError> {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        // The handler below may have run already.
        let outcome = state.withLock { state in
          if state.outcome == nil { state.waiter = waiter }
          return state.outcome
        }
        if let outcome {
          waiter.resume(returning: outcome)
        } else {
          task.resume()
        }
      }
    } onCancel: {
      end(.failure(HTTPFailure.cancelled(request)))
    }
  }

  /// Takes the headers; an answer that can only be refused is not waited for.
  func receive(_ head: HTTPResponse, expecting length: Int64) {
    let encoding = head.headers["Content-Encoding"]?.lowercased() ?? "identity"
    let hasBody = request.method != "HEAD" && head.status != 304
    if hasBody, encoding != "identity" { return end(.failure(HTTPFailure.compressed(request))) }
    if hasBody, length > Int64(request.bodyLimit) { return end(.failure(HTTPFailure.tooLong(request))) }
    state.withLock { $0.head = head }
  }

  /// Takes bytes of the body.
  func receive(_ data: Data) {
    let isTooLong = state.withLock { state in
      guard state.outcome == nil else { return false }
      guard state.body.count + data.count <= request.bodyLimit else { return true }
      state.body.append(contentsOf: data)
      return false
    }
    if isTooLong { end(.failure(HTTPFailure.tooLong(request))) }
  }

  /// Takes the end.
  func complete(_ error: (any Error)?) {
    let operation = "asking \(request.address.origin)"
    if let error {
      let failure = SyncError(
        .remoteUnavailable, during: operation, "There is no whole answer from \(request.address.origin).",
        underlying: error)
      return end(.failure(failure))
    }
    let response = state.withLock { state in
      defer { state.body = [] }
      return state.head.map { HTTPResponse(status: $0.status, headers: $0.headers, body: state.body) }
    }
    let nothing = SyncError(.invalidResponse, during: operation, "The answer is no HTTP.")
    end(response.map { .success($0) } ?? .failure(nothing))
  }

  /// Ends it one way or the other; only the first end counts.
  private func end(_ outcome: Result<HTTPResponse, SyncError>) {
    let (isFirst, waiter) = state.withLock { state in
      guard state.outcome == nil else {
        return (false, nil as CheckedContinuation<Result<HTTPResponse, SyncError>, Never>?)
      }
      state.outcome = outcome
      state.body = []
      defer { state.waiter = nil }
      return (true, state.waiter)
    }
    guard isFirst else { return }
    if case .failure = outcome { task.cancel() }
    waiter?.resume(returning: outcome)
  }
}
