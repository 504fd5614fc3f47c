import Foundation
import Synchronization
import Testing

@testable import ToolSupport

@Suite("An interrupt", .serialized, .timeLimit(.minutes(10)))
struct ToolSupportInterruptTests {
  enum Heard { case stop, end }

  @Test func stopsAtTheFirstSignalAndEndsAtTheSecond() async throws {
    let (heard, hear) = AsyncStream.makeStream(of: Heard.self)
    let blocked = DispatchSemaphore(value: 0)
    let interrupt = Interrupt(on: [SIGUSR1, SIGUSR2], secondTime: { hear.yield(.end) }) {
      hear.yield(.stop)
      blocked.wait()
    }
    var events = heard.makeAsyncIterator()
    #expect(!interrupt.hasCome)
    kill(getpid(), SIGUSR1)
    #expect(await events.next() == .stop)
    #expect(interrupt.hasCome)
    kill(getpid(), SIGUSR2)
    #expect(await events.next() == .end)
    blocked.signal()
  }

  @Test func givesItsSignalsBackWhenItGoes() {
    do { _ = Interrupt(on: [SIGUSR1]) {} }
    let previous = signal(SIGUSR1, SIG_IGN)
    #expect(unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_DFL, to: Int.self))
  }
}
