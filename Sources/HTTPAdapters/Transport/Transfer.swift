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
    var body = Body()
    var outcome: Result<HTTPResponse, SyncError>?
    var isBrokenOff = false
    var waiter: CheckedContinuation<Result<HTTPResponse, SyncError>, Never>?
  }

  /// What came so far, in the pieces that it came in: an array that grows would hold several times as much.
  private struct Body {
    private(set) var count = 0
    private var pieces: [Data] = []

    mutating func append(_ piece: Data) {
      pieces.append(piece)
      count += piece.count
    }

    var bytes: [UInt8] {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(count)
      for piece in pieces { bytes.append(contentsOf: piece) }
      return bytes
    }
  }

  let request: HTTPRequest
  private let task: URLSessionDataTask
  private let state = Mutex(State())

  /// Numbers are a session's own; sessions follow one another.
  var id: ObjectIdentifier { ObjectIdentifier(task) }

  /// Whether it was ended before its answer was, of which more may be coming.
  var isBrokenOff: Bool { state.withLock { $0.isBrokenOff } }

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
          // Elsewhere: on Linux this may wait for the session's queue, and return when the answer has ended.
          DispatchQueue.global().async { [task] in task.resume() }
        }
      }
    } onCancel: {
      breakOff(HTTPFailure.cancelled(request))
    }
  }

  /// Takes the headers; an answer that can only be refused is not waited for.
  func receive(_ head: HTTPResponse, expecting length: Int64) {
    let encoding = head.headers["Content-Encoding"]?.lowercased() ?? "identity"
    let hasBody = request.method != "HEAD" && head.status != 304
    if hasBody, encoding != "identity" { return breakOff(HTTPFailure.compressed(request)) }
    if hasBody, length > Int64(request.bodyLimit) { return breakOff(HTTPFailure.tooLong(request)) }
    state.withLock { $0.head = head }
  }

  /// Takes bytes of the body.
  func receive(_ data: Data) {
    let isTooLong = state.withLock { state in
      // What comes after the end is dropped, as fast as it comes: only between bytes is it the cancellation's turn.
      guard state.outcome == nil else { return false }
      guard state.body.count + data.count <= request.bodyLimit else { return true }
      state.body.append(data)
      return false
    }
    if isTooLong { breakOff(HTTPFailure.tooLong(request)) }
  }

  /// Ends it before its answer has.
  private func breakOff(_ error: SyncError) {
    guard end(.failure(error), isBrokenOff: true) else { return }
    // Elsewhere, after whoever waits was told: on Linux this waits for the session's queue, which bytes that come faster than they
    // are taken keep busy.
    DispatchQueue.global().async { [task] in task.cancel() }
  }

  /// Takes the end.
  func complete(_ error: (any Error)?) {
    let operation = "asking \(request.address.origin)"
    if let error {
      let failure = SyncError(
        .remoteUnavailable, during: operation, "There is no whole answer from \(request.address.origin).",
        underlying: error)
      end(.failure(failure))
      return
    }
    let response = state.withLock { state in
      defer { state.body = Body() }
      return state.head.map { HTTPResponse(status: $0.status, headers: $0.headers, body: state.body.bytes) }
    }
    let nothing = SyncError(.invalidResponse, during: operation, "The answer is no HTTP.")
    end(response.map { .success($0) } ?? .failure(nothing))
  }

  /// Ends it one way or the other; only the first end counts.
  @discardableResult
  private func end(_ outcome: Result<HTTPResponse, SyncError>, isBrokenOff: Bool = false) -> Bool {
    let (isFirst, waiter) = state.withLock { state in
      guard state.outcome == nil else {
        return (false, nil as CheckedContinuation<Result<HTTPResponse, SyncError>, Never>?)
      }
      state.outcome = outcome
      state.isBrokenOff = isBrokenOff
      state.body = Body()
      defer { state.waiter = nil }
      return (true, state.waiter)
    }
    waiter?.resume(returning: outcome)
    return isFirst
  }
}
