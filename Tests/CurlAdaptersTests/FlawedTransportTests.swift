#if Curl && os(Linux)
  import CanonicalSync
  import CanonicalSyncTestServers
  import CurlAdapters
  import SyncConformance
  import Testing

  /// A transport that breaks one promise, around one that keeps them.
  private struct FlawedTransport: Sendable {
    enum Flaw: String, CaseIterable, Sendable {
      case losesHeaders, sendsCookies, followsRedirects, takesInterimAnswers, keepsNoConnections
      case takesFailuresForAnswers, repeatsWrites, takesBodiesOfAnyLength
      case overlooksCompression, hurries, leavesTransfersRunning

      /// The checks that detect the flaw.
      var checks: [TransportCheck] {
        switch self {
        case .losesHeaders: [.answersComeWhole]
        case .sendsCookies: [.requestsArriveAsTheyAre]
        case .followsRedirects: [.redirectsAreAnswers]
        case .takesInterimAnswers: [.interimAnswersAreNone]
        case .keepsNoConnections: [.connectionsAreKept]
        case .takesFailuresForAnswers:
          [
            .everyCutOfAPlainAnswerIsAFailure, .everyCutOfAChunkedAnswerIsAFailure,
            .bodyThatTheConnectionEndsIsWholeOnceItsJSONEnds, .whatIsNoHTTPIsAFailure,
            .unansweredWriteWithAPreconditionIsSettledAtOnce, .unansweredReadIsSettledAtOnce,
            .endlessBodyEndsAtItsLimit, .endlessHeadersEnd,
          ]
        case .repeatsWrites: [.unansweredWriteArrivesOnce]
        case .takesBodiesOfAnyLength: [.announcedBodyIsNotWaitedFor]
        case .overlooksCompression: [.compressedBodyIsRefused]
        case .hurries: [.silenceEndsAtTheDeadline, .dripEndsAtTheDeadline]
        case .leavesTransfersRunning: [.cancellationEndsTheTransferAtOnce]
        }
      }
    }

    typealias Request = TransportHarness.Request
    typealias Answer = TransportHarness.Answer

    let flaw: Flaw
    let base = TransportHarness(CurlTransport.alone())

    var harness: TransportHarness {
      TransportHarness(
        send: { (request) throws(SyncError) in try await send(request) },
        serve: { script, body in
          try await base.serve({ request, send in script(request) { send(heard($0)) } }, body)
        })
    }

    /// What the transport takes the bytes of a server for.
    private func heard(_ bytes: [UInt8]) -> [UInt8] {
      let text = String(decoding: bytes, as: UTF8.self)
      switch flaw {
      case .takesInterimAnswers:
        let end = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
        return Array(text.replacing("HTTP/1.1 103 Early Hints\r\n", with: end).utf8)
      case .overlooksCompression: return Array(text.replacing("Content-Encoding", with: "X-Encoding").utf8)
      // As if the announced length were within the limit.
      case .takesBodiesOfAnyLength: return Array(text.replacing("99999999999", with: "999").utf8)
      default: return bytes
      }
    }

    private func send(_ request: Request) async throws(SyncError) -> Answer {
      var request = request
      switch flaw {
      case .sendsCookies: request.headers["Cookie"] = "a=b"
      case .keepsNoConnections: request.headers["Connection"] = "close"
      // As if the deadline had passed.
      case .hurries: throw SyncError(.remoteUnavailable, during: "sending a request")
      case .takesBodiesOfAnyLength: request.deadline = .seconds(1)
      case .leavesTransfersRunning: return try await abandoned(request)
      default: break
      }
      do throws(SyncError) {
        return try await changed(try await base.send(request), to: request)
      } catch {
        switch flaw {
        case .takesFailuresForAnswers: return Answer(status: 200, headers: [:], body: [])
        case .repeatsWrites where request.method != "GET": return try await base.send(request)
        default: throw error
        }
      }
    }

    private func changed(_ answer: Answer, to request: Request) async throws(SyncError) -> Answer {
      var answer = answer
      switch flaw {
      case .losesHeaders: answer.headers["etag"] = nil
      case .followsRedirects:
        guard let location = answer.headers["location"] else { break }
        var next = request
        next.address = location
        return try await base.send(next)
      default: break
      }
      return answer
    }

    /// Ends with the cancellation, while the transfer goes on.
    private func abandoned(_ request: Request) async throws(SyncError) -> Answer {
      let base = base
      Task { try? await base.send(request) }
      // Never cancelled but by the task's own cancellation.
      await CancellationSource().waitUntilCancelled()
      throw SyncError(.cancelled, during: "sending a request")
    }
  }

  @Suite("The checks of a transport", .timeLimit(.minutes(10)))
  struct FlawedTransportTests {
    @Test(arguments: FlawedTransport.Flaw.allCases.flatMap { flaw in flaw.checks.map { (flaw, $0) } })
    fileprivate func noticeATransportThatBreaksAPromise(
      _ flaw: FlawedTransport.Flaw, _ check: TransportCheck
    ) async throws {
      let harness = FlawedTransport(flaw: flaw).harness
      // A check waits no longer for an event that never comes.
      await #expect(throws: ConformanceFailure.self) {
        try await Patience.$limit.withValue(.seconds(2)) { _ = try await check.run(on: harness) }
      }
    }

    /// A check that no flaw names may be one that cannot fail.
    @Test func areEachSeenToFail() {
      #expect(Set(FlawedTransport.Flaw.allCases.flatMap(\.checks)) == Set(TransportCheck.allCases))
    }
  }
#endif
