import Foundation
import Synchronization
import Testing

@testable import CanonicalSyncToolSupport

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

  #if os(Linux)
    /// A signal that is ignored until a listener exists would be lost.
    @Test func losesNoSignalThatComesWhileItBeginsToListen() async {
      let isDone = Atomic(false)
      let looked = Mutex(0)
      await withCheckedContinuation { begun in
        Thread.detachNewThread {
          begun.resume()
          while !isDone.load(ordering: .acquiring) {
            var current = sigaction()
            sigaction(SIGUSR2, nil, &current)
            let isIgnored = unsafeBitCast(current.__sigaction_handler.sa_handler, to: Int.self) == 1
            looked.withLock { $0 = isIgnored ? .min : $0 + 1 }
          }
        }
      }
      var rounds = 0
      while rounds < 200 || looked.withLock({ $0 }) == 0 {
        _ = Interrupt(on: [SIGUSR2]) {}
        rounds += 1
      }
      isDone.store(true, ordering: .releasing)
      #expect(looked.withLock { $0 } > 0)
    }
  #endif
}
