import SyncJSON
package import SyncModels
import Synchronization

/// What moves the bytes of transfers. Both calls return at once.
package protocol TransferCarrier: Sendable {
  /// Begins a transfer, and hands it what comes of its answer, in order, until the end.
  func begin(_ transfer: Transfer)
  /// Gives up a transfer that needs no more of its answer; it may not have begun.
  func giveUp(_ transfer: Transfer)
}

/// One request on its way: what came in of its answer, and who waits for the end.
package final class Transfer: Sendable {
  private struct State {
    var head: HTTPResponse?
    var framing = BodyFraming.frames
    var body = AnswerBody()
    var hasFirstByte = false
    var outcome: Result<HTTPResponse, SyncError>?
    var isBrokenOff = false
    var waiter: CheckedContinuation<Result<HTTPResponse, SyncError>, Never>?
  }

  package let request: HTTPRequest
  private let carrier: any TransferCarrier
  private let state = Mutex(State())

  package init(_ request: HTTPRequest, by carrier: any TransferCarrier) {
    self.request = request
    self.carrier = carrier
  }

  /// Whether anything of the answer has come.
  package var hasFirstByte: Bool { state.withLock { $0.hasFirstByte } }

  /// Whether the outcome is known.
  package var isOver: Bool { state.withLock { $0.outcome != nil } }

  /// Whether it was ended before its answer was, of which more may be coming.
  package var isBrokenOff: Bool { state.withLock { $0.isBrokenOff } }

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
          carrier.begin(self)
        }
      }
    } onCancel: {
      breakOff(HTTPFailure.cancelled(request))
    }
  }

  /// Takes note that something of the answer has come.
  package func receiveFirstByte() { state.withLock { $0.hasFirstByte = true } }

  /// Takes the headers; an answer that can only be refused is not waited for.
  ///
  /// - Parameter framing: What ends the body as it comes over the wire.
  package func receive(_ head: HTTPResponse, _ framing: BodyFraming) {
    let encoding = head.headers["Content-Encoding"]?.lowercased() ?? "identity"
    let hasBody = request.method != "HEAD" && head.status != 304 && head.status != 204
    if hasBody, encoding != "identity" { return breakOff(HTTPFailure.compressed(request)) }
    if hasBody, case .length(let length) = framing, length > Int64(request.bodyLimit) {
      return breakOff(HTTPFailure.tooLong(request))
    }
    state.withLock { state in
      state.hasFirstByte = true
      state.head = head
      state.framing = hasBody ? framing : .frames
      if hasBody, case .length(let length) = framing { state.body.expect(Int(length)) }
    }
  }

  /// Takes bytes of the body; `false` if no more are needed.
  @discardableResult
  package func receive(_ bytes: some Collection<UInt8>) -> Bool {
    let isTooLong: Bool? = state.withLock { state in
      // What comes after the end is dropped, as fast as it comes: only between bytes is it the cancellation's turn.
      guard state.outcome == nil else { return nil }
      guard bytes.count <= request.bodyLimit - state.body.count else { return true }
      state.body.append(bytes)
      return false
    }
    if isTooLong == true { breakOff(HTTPFailure.tooLong(request)) }
    return isTooLong == false
  }

  /// Ends it before its answer has.
  package func breakOff(_ error: SyncError) {
    // The waiting task is resumed first, so that the carrier cannot hold it up.
    if end(.failure(error), isBrokenOff: true) { carrier.giveUp(self) }
  }

  /// Takes the end.
  package func complete(_ failure: SyncError? = nil) {
    if let failure {
      end(.failure(failure))
      return
    }
    let (head, framing, body) = state.withLock { state in
      defer { state.body = AnswerBody() }
      return (state.head, state.framing, state.body.bytes)
    }
    guard let head else {
      end(.failure(HTTPFailure.noHTTP(request)))
      return
    }
    // What an error says beside its status is no more than a remark.
    if framing == .connection, (200...299).contains(head.status), !Self.isWholeJSON(body) {
      end(.failure(HTTPFailure.cut(request)))
      return
    }
    end(.success(HTTPResponse(status: head.status, headers: head.headers, body: body)))
  }

  /// Whether JSON says itself that nothing is missing; a number may go on.
  private static func isWholeJSON(_ body: [UInt8]) -> Bool {
    do {
      return try JSONValueSlice(checking: body[...], depthLimit: .max).kind != .number
    } catch {
      return false
    }
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
      state.body = AnswerBody()
      defer { state.waiter = nil }
      return (true, state.waiter)
    }
    waiter?.resume(returning: outcome)
    return isFirst
  }
}
