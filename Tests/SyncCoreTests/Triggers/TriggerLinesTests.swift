import CanonicalSync
import Testing

@Suite("The coordinator's lines")
struct TriggerLinesTests {
  private let time = Timestamp(milliseconds: 1_775_066_400_000)

  @Test func areOneLineEach() {
    let error = SyncError(.remoteUnavailable, during: "testing", "It is away.")
    let next = NextSync(at: time, triggers: [.launch], waitsFor: .failures(2))
    let lines: [(SyncCoordinator.Event, String)] = [
      (
        .trigger(.launch, .planned(next)),
        "trigger is=launch decision=planned start=2026-04-01T18:00:00Z waits-for=pause-after-failures failures=2"
      ),
      (
        .trigger(.launch, .ignored(.fresh(until: time))),
        "trigger is=launch decision=ignored because=fresh until=2026-04-01T18:00:00Z"
      ),
      (.trigger(.launch, .follows), "trigger is=launch decision=follows"),
      (.started([.launch, .foreground]), "sync.started for=launch,foreground"),
      (
        .finished([], .unavailable(error)),
        "sync.finished outcome=unavailable code=remoteUnavailable error=\"\(error)\""
      ),
      (.cleanedUp(nil), "cleaned-up outcome=completed"),
      (.expired(.refresh), "background.expired for=refresh"),
      (.network(NetworkStatus(.online)), "network is=online"),
    ]
    for (event, line) in lines { #expect("\(event)" == line) }
    #expect("\(SyncEvent.started(fence: 3))" == "sync.started fence=3")
    #expect("\(SyncEvent.lost(2))" == "sync.events.lost count=2")
    let forged = SyncError(.remoteUnavailable, during: "testing", "It is away.\nforged")
    #expect(!"\(SyncOutcome.unavailable(forged))".contains("\n"))
    #expect(!"\(SyncCoordinator.Event.cleanedUp(forged))".contains("\n"))
  }
}
