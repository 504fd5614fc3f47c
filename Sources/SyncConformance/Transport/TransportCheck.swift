/// One promise of an HTTP transport, as a check for any transport.
///
/// Run every case with its own harness, over plain connections and over TLS, and report each
/// separately; see ``TransportHarness``.
public enum TransportCheck: String, CaseIterable, Sendable {
  /// A promise about requests and answers.
  case answersComeWhole, requestsArriveAsTheyAre, redirectsAreAnswers, interimAnswersAreNone,
    connectionsAreKept
  /// A promise about truncated answers.
  case everyCutOfAPlainAnswerIsAFailure, everyCutOfAChunkedAnswerIsAFailure,
    bodyThatTheConnectionEndsIsWholeOnceItsJSONEnds, whatIsNoHTTPIsAFailure
  /// A promise about connections that end without an answer.
  case unansweredWriteArrivesOnce, unansweredWriteWithAPreconditionIsSettledAtOnce,
    unansweredReadIsSettledAtOnce
  /// A promise about bounds.
  case endlessBodyEndsAtItsLimit, announcedBodyIsNotWaitedFor, endlessHeadersEnd, compressedBodyIsRefused,
    silenceEndsAtTheDeadline, dripEndsAtTheDeadline, cancellationEndsTheTransferAtOnce

  /// Runs the check on a harness that no other check has used.
  ///
  /// - Returns: Whether the promise was kept, or the check does not apply.
  /// - Throws: ``ConformanceFailure`` with the broken promise, or the harness's own error.
  public func run(on harness: TransportHarness) async throws -> ConformanceOutcome {
    switch self {
    case .everyCutOfAPlainAnswerIsAFailure, .everyCutOfAChunkedAnswerIsAFailure:
      if !harness.survivesCutHeads { return .skipped("A cut would end the process.") }
    case .unansweredWriteArrivesOnce, .unansweredWriteWithAPreconditionIsSettledAtOnce, .endlessHeadersEnd:
      if !harness.seesToConnections { return .skipped("The transport leaves connections to its library.") }
    default: break
    }
    return try await ConformanceOutcome { try await body(TransportBench(harness: harness)) }
  }

  private var body: @Sendable (TransportBench) async throws -> Void {
    switch self {
    case .answersComeWhole: ExchangeChecks.answersComeWhole
    case .requestsArriveAsTheyAre: ExchangeChecks.requestsArriveAsTheyAre
    case .redirectsAreAnswers: ExchangeChecks.redirectsAreAnswers
    case .interimAnswersAreNone: ExchangeChecks.interimAnswersAreNone
    case .connectionsAreKept: ExchangeChecks.connectionsAreKept
    case .everyCutOfAPlainAnswerIsAFailure: CutChecks.everyCutOfAPlainAnswerIsAFailure
    case .everyCutOfAChunkedAnswerIsAFailure: CutChecks.everyCutOfAChunkedAnswerIsAFailure
    case .bodyThatTheConnectionEndsIsWholeOnceItsJSONEnds:
      CutChecks.bodyThatTheConnectionEndsIsWholeOnceItsJSONEnds
    case .whatIsNoHTTPIsAFailure: CutChecks.whatIsNoHTTPIsAFailure
    case .unansweredWriteArrivesOnce: UnansweredChecks.unansweredWriteArrivesOnce
    case .unansweredWriteWithAPreconditionIsSettledAtOnce:
      UnansweredChecks.unansweredWriteWithAPreconditionIsSettledAtOnce
    case .unansweredReadIsSettledAtOnce: UnansweredChecks.unansweredReadIsSettledAtOnce
    case .endlessBodyEndsAtItsLimit: BoundChecks.endlessBodyEndsAtItsLimit
    case .announcedBodyIsNotWaitedFor: BoundChecks.announcedBodyIsNotWaitedFor
    case .endlessHeadersEnd: BoundChecks.endlessHeadersEnd
    case .compressedBodyIsRefused: BoundChecks.compressedBodyIsRefused
    case .silenceEndsAtTheDeadline: BoundChecks.silenceEndsAtTheDeadline
    case .dripEndsAtTheDeadline: BoundChecks.dripEndsAtTheDeadline
    case .cancellationEndsTheTransferAtOnce: BoundChecks.cancellationEndsTheTransferAtOnce
    }
  }
}
