import InMemoryAdapters
import SyncModels
import Synchronization
import Testing

@testable import HTTPAdapters

/// A carrier that delivers scripted bytes, and records cancelled transfers.
private final class ScriptedCarrier: TransferCarrier {
  private let script: @Sendable (Transfer) -> Void
  private let counts = Mutex(0)

  var givenUp: Int { counts.withLock { $0 } }

  init(_ script: @escaping @Sendable (Transfer) -> Void) { self.script = script }

  func begin(_ transfer: Transfer) { script(transfer) }
  func giveUp(_ transfer: Transfer) { counts.withLock { $0 += 1 } }
}

@Suite("A transfer", .timeLimit(.minutes(10)))
struct TransferTests {
  private func transfer(_ carrier: ScriptedCarrier, limit: Int = 100) throws -> Transfer {
    let address = try #require(HTTPAddress("https://kinto.test/"))
    return Transfer(HTTPRequest("GET", address, deadline: .seconds(10), bodyLimit: limit), by: carrier)
  }

  @Test func hasADeadlineForItsFirstByte() async throws {
    let (clock, carrier) = (ManualClock(), ScriptedCarrier { _ in })
    let transfer = try transfer(carrier)
    let answer = Task { try await transfer.answer(by: clock, firstByteWithin: .seconds(3)) }
    #expect(await clock.nextSleep() == .seconds(3))
    clock.advance(by: .seconds(3))
    let error = await #expect(throws: SyncError.self) { _ = try await answer.value }
    #expect(error?.message.contains("did not begin to answer within 3.0 seconds") == true)
    #expect(carrier.givenUp == 1)
  }

  @Test func thatHasBegunHasUntilItsOwnDeadline() async throws {
    let clock = ManualClock()
    let transfer = try transfer(ScriptedCarrier { $0.receiveFirstByte() })
    let answer = Task { try await transfer.answer(by: clock, firstByteWithin: .seconds(3)) }
    #expect(await clock.nextSleep() == .seconds(3))
    clock.advance(by: .seconds(3))
    #expect(await clock.nextSleep() == .seconds(7))
    clock.advance(by: .seconds(7))
    let error = await #expect(throws: SyncError.self) { _ = try await answer.value }
    #expect(error?.message.contains("did not complete its answer within 10.0 seconds") == true)
  }

  @Test(arguments: [BodyFraming.length(40), .frames, .connection], [1, 7, 40])
  func putsItsBodyTogether(_ framing: BodyFraming, _ size: Int) async throws {
    let body = Array(("[" + String(repeating: "1,", count: 19) + "1]").utf8)
    let transfer = try transfer(
      ScriptedCarrier { transfer in
        transfer.receive(HTTPResponse(status: 200), framing)
        for start in stride(from: 0, to: body.count, by: size) {
          transfer.receive(body[start..<min(start + size, body.count)])
        }
        transfer.complete()
      })
    #expect(try await transfer.answer(by: ManualClock()).body == body)
  }

  /// Where nothing on the wire marks the end, the text has to: also one that is no JSON somewhere else.
  @Test(arguments: [
    (#"[{"a":1}]"#, true), ("\u{FEFF}[{}]\n", true), (#"[{"a":NaN}]"#, true), ("[\"a\nb]\"]", true),
    ("<html></html>", false), (#"[{"a":1}"#, false), (#"[{"a":NaN}"#, false), (#"["a]"#, false), ("", false),
    ("12", false), (#"[{"a":"\"]}"#, false), ("\u{FEFF}", false),
  ])
  func endsWhereItsTextIsWhole(_ text: String, _ isWhole: Bool) async throws {
    let transfer = try transfer(
      ScriptedCarrier { transfer in
        transfer.receive(HTTPResponse(status: 200), .connection)
        transfer.receive(Array(text.utf8))
        transfer.complete()
      })
    let body = try? await transfer.answer(by: ManualClock()).body
    #expect(body.map { String(decoding: $0, as: UTF8.self) } == (isWhole ? text : nil))
  }

  @Test func endsOnceAndTakesNothingAfterwards() async throws {
    let carrier = ScriptedCarrier { transfer in
      transfer.receive(HTTPResponse(status: 200), .frames)
      #expect(transfer.receive(Array(repeating: 0, count: 100)))
      #expect(!transfer.receive([0]))
      #expect(!transfer.receive([0]))
      transfer.complete()
    }
    let error = await #expect(throws: SyncError.self) {
      _ = try await transfer(carrier).answer(by: ManualClock())
    }
    #expect(error?.code == .invalidResponse)
    #expect(carrier.givenUp == 1)
  }

  @Test(arguments: [302, 401, 429, 503])
  func keepsTheStatusOfACompressedFailure(_ status: Int) async throws {
    let carrier = ScriptedCarrier { transfer in
      let headers: HTTPHeaders = ["Content-Encoding": "gzip", "Retry-After": "7"]
      transfer.receive(HTTPResponse(status: status, headers: headers), .length(1000))
      #expect(!transfer.receive([0x1F, 0x8B]))
      transfer.complete()
    }
    let answer = try await transfer(carrier).answer(by: ManualClock())
    #expect(answer.status == status && answer.body.isEmpty)
    #expect(answer.headers["Retry-After"] == "7")
    #expect(carrier.givenUp == 1)
  }

  @Test func refusesACompressedBody() async throws {
    let carrier = ScriptedCarrier {
      $0.receive(HTTPResponse(status: 200, headers: ["Content-Encoding": "gzip"]), .frames)
    }
    let error = await #expect(throws: SyncError.self) {
      _ = try await transfer(carrier).answer(by: ManualClock())
    }
    #expect(error?.code == .invalidResponse)
  }

  @Test func withoutAHeadIsNoHTTP() async throws {
    let error = await #expect(throws: SyncError.self) {
      _ = try await transfer(ScriptedCarrier { $0.complete() }).answer(by: ManualClock())
    }
    #expect(error?.code == .invalidResponse)
  }
}
