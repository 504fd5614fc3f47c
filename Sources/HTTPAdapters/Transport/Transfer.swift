import SyncJSON
package import SyncModels
package import SyncPorts
import Synchronization

/// Moves the bytes of transfers. Both calls return at once.
package protocol TransferCarrier: Sendable {
  /// Begins a transfer, and passes the parts of its answer to it in order.
  func begin(_ transfer: Transfer)
  /// Stops a transfer that needs no more of its answer. It may not have begun.
  func giveUp(_ transfer: Transfer)
}

/// One request in progress: the received part of its answer, and the waiting task.
package final class Transfer: Sendable {
  private struct State {
    var head: HTTPResponse?
    var framing = BodyFraming.frames
    var body = AnswerBody()
    var hasFirstByte = false
    var outcome: Result<HTTPResponse, SyncError>?
    var isAborted = false
    var waiter: CheckedContinuation<Result<HTTPResponse, SyncError>, Never>?
  }

  package let request: HTTPRequest
  private let carrier: any TransferCarrier
  private let state = Mutex(State())

  package init(_ request: HTTPRequest, by carrier: any TransferCarrier) {
    self.request = request
    self.carrier = carrier
  }

  /// Whether any part of the answer has arrived.
  package var hasFirstByte: Bool { state.withLock { $0.hasFirstByte } }

  /// Whether the outcome is known.
  package var isOver: Bool { state.withLock { $0.outcome != nil } }

  /// Whether the transfer ended before its answer, of which more may arrive.
  package var isAborted: Bool { state.withLock { $0.isAborted } }

  /// Starts the transfer, and returns its complete answer or its failure.
  ///
  /// A cancelled task ends the transfer at once.
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
      abort(HTTPFailure.cancelled(request))
    }
  }

  /// Records that the answer has begun.
  package func receiveFirstByte() { state.withLock { $0.hasFirstByte = true } }

  /// Takes the headers. An answer that must be refused is not awaited.
  ///
  /// Nor is the compressed body of an error: the status and the headers tell enough.
  ///
  /// - Parameter framing: The mark that ends the body on the wire.
  package func receive(_ head: HTTPResponse, _ framing: BodyFraming) {
    let encoding = head.headers["Content-Encoding"]?.lowercased() ?? "identity"
    let hasBody = request.method != "HEAD" && head.status != 304 && head.status != 204
    if hasBody, encoding != "identity" {
      let isSuccess = (200...299).contains(head.status)
      return abort(isSuccess ? .failure(HTTPFailure.compressed(request)) : .success(head))
    }
    if hasBody, case .length(let length) = framing, length > Int64(request.bodyLimit) {
      return abort(HTTPFailure.tooLong(request))
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
      // Bytes after the end are dropped as fast as they arrive: a cancellation runs only between
      // bytes.
      guard state.outcome == nil else { return nil }
      guard bytes.count <= request.bodyLimit - state.body.count else { return true }
      state.body.append(bytes)
      return false
    }
    if isTooLong == true { abort(HTTPFailure.tooLong(request)) }
    return isTooLong == false
  }

  /// Ends the transfer before its answer has ended.
  package func abort(_ error: SyncError) { abort(.failure(error)) }

  private func abort(_ outcome: Result<HTTPResponse, SyncError>) {
    // The waiting task is resumed first, so that the carrier cannot delay it.
    if end(outcome, isAborted: true) { carrier.giveUp(self) }
  }

  /// Takes the end of the answer.
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
    // The body of an error status is only informative.
    if framing == .connection, (200...299).contains(head.status), !Self.isWhole(body) {
      end(.failure(HTTPFailure.cut(request)))
      return
    }
    end(.success(HTTPResponse(status: head.status, headers: head.headers, body: body)))
  }

  /// Whether nothing of a text is missing: its brackets are closed, whatever is no JSON between them.
  ///
  /// A bare number may continue.
  private static func isWhole(_ body: [UInt8]) -> Bool {
    let text = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
    if let value = try? JSONValueSlice(checking: text, depthLimit: .max) { return value.kind != .number }
    func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
    let rest = text.drop(while: isSpace)
    var (depth, isInString, isEscaped) = (0, false, false)
    for (index, byte) in zip(rest.indices, rest) {
      switch byte {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\") where isInString: isEscaped = true
      case UInt8(ascii: "\""): isInString.toggle()
      case UInt8(ascii: "{") where !isInString, UInt8(ascii: "[") where !isInString: depth += 1
      case UInt8(ascii: "}") where !isInString, UInt8(ascii: "]") where !isInString: depth -= 1
      default: break
      }
      if depth <= 0, !isInString {
        return depth == 0 && index > rest.startIndex && rest[(index + 1)...].allSatisfy(isSpace)
      }
    }
    return false
  }

  /// Ends the transfer with a result. Only the first end counts.
  @discardableResult
  private func end(_ outcome: Result<HTTPResponse, SyncError>, isAborted: Bool = false) -> Bool {
    let (isFirst, waiter) = state.withLock { state in
      guard state.outcome == nil else {
        return (false, nil as CheckedContinuation<Result<HTTPResponse, SyncError>, Never>?)
      }
      state.outcome = outcome
      state.isAborted = isAborted
      state.body = AnswerBody()
      defer { state.waiter = nil }
      return (true, state.waiter)
    }
    waiter?.resume(returning: outcome)
    return isFirst
  }
}

extension Transfer {
  /// Starts the transfer, and returns the complete answer, unless a deadline passes first.
  ///
  /// - Parameters:
  ///   - clock: Measures the request's deadline.
  ///   - firstByte: The longest time until the answer begins; `nil` for the time of the whole
  ///     answer.
  package func answer(
    by clock: any SyncPorts.Clock<Duration>, firstByteWithin firstByte: Duration? = nil
  ) async throws(SyncError) -> HTTPResponse {
    try await race(clock, firstByte).get()
  }

  private func race(
    _ clock: any SyncPorts.Clock<Duration>, _ firstByte: Duration?
  ) async -> Result<HTTPResponse, SyncError> {
    await withTaskGroup(of: Result<HTTPResponse, SyncError>?.self) { group in
      group.addTask { await self.outcome() }
      group.addTask {
        guard let failure = await self.passedDeadline(clock, firstByte) else { return nil }
        return .failure(failure)
      }
      // The slower task is cancelled and awaited: nothing outlives the call.
      defer { group.cancelAll() }
      for await outcome in group {
        if let outcome { return outcome }
      }
      return .failure(HTTPFailure.cancelled(request))
    }
  }

  /// Waits for the deadlines; `nil` if cancelled meanwhile.
  private func passedDeadline(
    _ clock: any SyncPorts.Clock<Duration>, _ firstByte: Duration?
  ) async -> SyncError? {
    var rest = request.deadline
    do {
      if let firstByte, firstByte < rest {
        try await clock.pause(for: firstByte)
        if !hasFirstByte { return HTTPFailure.silent(request, for: firstByte) }
        rest -= firstByte
      }
      try await clock.pause(for: rest)
      return HTTPFailure.tooSlow(request)
    } catch {
      return nil
    }
  }
}

/// The mark that ends a body on the wire.
package enum BodyFraming: Hashable, Sendable {
  /// An announced number of bytes.
  case length(Int64)
  /// Chunks or frames, the last of which is marked.
  case frames
  /// The connection's end, which looks the same after a server crash.
  case connection

  /// The framing that the headers of HTTP/1 announce.
  package init(_ headers: HTTPHeaders) {
    self =
      if headers["Transfer-Encoding"] != nil {
        .frames
      } else if let length = headers["Content-Length"].flatMap({ Int64($0) }), length >= 0 {
        .length(length)
      } else {
        .connection
      }
  }
}

/// The received bytes of a body.
///
/// A body of announced length is kept in one piece, any other in several: a growing array would
/// hold several times as much.
struct AnswerBody {
  private(set) var count = 0
  private var pieces: [[UInt8]] = []

  /// Reserves room for an announced length. The system provides memory only for written pages.
  mutating func expect(_ length: Int) {
    guard length > 0, pieces.isEmpty else { return }
    addPiece(of: length)
  }

  mutating func append(_ bytes: some Collection<UInt8>) {
    let isRoom = pieces.last.map { $0.capacity - $0.count >= bytes.count } ?? false
    if !isRoom { addPiece(of: max(bytes.count, min(max(count, 16 << 10), 1 << 20))) }
    pieces[pieces.count - 1].append(contentsOf: bytes)
    count += bytes.count
  }

  private mutating func addPiece(of capacity: Int) {
    var piece: [UInt8] = []
    piece.reserveCapacity(capacity)
    pieces.append(piece)
  }

  /// All received bytes.
  var bytes: [UInt8] {
    if pieces.count == 1 { return pieces[0] }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for piece in pieces { bytes += piece }
    return bytes
  }
}
