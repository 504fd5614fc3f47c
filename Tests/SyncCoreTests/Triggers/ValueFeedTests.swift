import Foundation
import Testing

@testable import SyncPorts

@Suite("A value and those who follow it", .timeLimit(.minutes(10)))
struct ValueFeedTests {
  @Test func isPassedOnWhileAFollowerGoes() async {
    // A separate process, which an alarm ends. Threads in a deadlock ignore time limits.
    await #expect(processExitsWith: .success) {
      alarm(120)
      for round in 0..<2000 {
        let feed = ValueFeed(0)
        let follower = Task.detached { for await _ in feed.stream() {} }
        let sender = Task.detached { for value in 1...50 { feed.send(value) } }
        if round.isMultiple(of: 2) { await Task.yield() }
        follower.cancel()
        await sender.value
        await follower.value
        #expect(feed.subscribers == 0)
      }
    }
  }

  @Test func isHeardFromTheFirstOneOn() async {
    let feed = ValueFeed(1)
    var stream = feed.stream().makeAsyncIterator()
    feed.send(1)
    feed.send(2)
    let heard = await [stream.next(), stream.next()]
    #expect(heard == [1, 2])
    #expect(feed.subscribers == 1)
  }
}
