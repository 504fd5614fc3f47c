#if SQLite
  import CanonicalSyncTestServers
  import Foundation
  import InMemoryAdapters
  import Synchronization
  import Testing

  /// The processes of a shared store, which are killed or stopped, and restarted.
  struct Crew {
    private let store: String
    private let server: BookkeepingKinto
    private let others: Others
    private var random: SplitMix64
    private var members: [String: RunningTool] = [:]
    private var account = Account()
    private var number = 0
    private let ambush = Ambush()

    private(set) var kills = 0
    private(set) var stops = 0
    /// The number of times that another process synced while the syncing one was stopped.
    private(set) var takeovers = 0

    init(
      of count: Int, store: String, server: BookkeepingKinto, others: Others, random: SplitMix64
    ) throws {
      self.store = store
      self.server = server
      self.others = others
      self.random = random
      let ambush = ambush
      server.onRequest { name in
        others.edit()
        ambush.pass(name)
      }
      for _ in 0..<count { try join() }
    }

    /// Starts another process.
    private mutating func join() throws {
      number += 1
      let name = "w\(number)"
      members[name] = try start("edit", name)
    }

    private mutating func start(_ work: String, _ name: String) throws -> RunningTool {
      // A database shows the name as the connection's.
      try Tool(name: "canonical-sync-worker").start(
        [work, store, server.address, name, "\(random.next())"], environment: ["PGAPPNAME": name])
    }

    // MARK: Strikes

    /// Kills or stops the syncing process, at a random instant of its work.
    mutating func strike() async throws {
      // Any instant from a request of the lease's holder until the answer is stored.
      let requests = 1 + random.number(below: 12)
      let delay = TimeInterval(random.number(below: 12_000)) / 1e6
      let signal = random.once(in: 3) ? SIGSTOP : SIGKILL
      let members = members
      let name = await ambush.strike(afterRequests: requests) { name in
        Thread.sleep(forTimeInterval: delay)
        members[name]?.send(signal)
      }
      try Task.checkCancellation()
      guard let victim = members[name] else { return }
      if signal == SIGKILL { return try await bury(victim, name) }

      stops += 1
      let before = ambush.requests(exceptOf: name)
      // For less than a lease lasts, or for more.
      try await Task.sleep(for: .milliseconds(random.once(in: 3) ? 100 : 350 + random.number(below: 250)))
      if ambush.requests(exceptOf: name) > before { takeovers += 1 }
      // The successor may be killed instead.
      let successors = members.keys.filter { $0 != name }.sorted()
      if random.once(in: 3), let successor = random.shuffled(successors).first,
        let victim = members[successor]
      {
        victim.send(SIGKILL)
        try await bury(victim, successor)
      }
      victim.send(SIGCONT)
    }

    /// Waits for the end of a killed process, and starts another one.
    private mutating func bury(_ process: RunningTool, _ name: String) async throws {
      kills += 1
      members[name] = nil
      try await hear(process, wasKilled: true)
      try join()
    }

    private mutating func hear(_ process: RunningTool, wasKilled: Bool) async throws {
      let outcome = await process.outcome()
      #expect(outcome.wasKilled == wasKilled && outcome.errors == "", "\(outcome.errors)")
      account.add(outcome.output)
    }

    /// Whether a process has reported that it resumed without its lease.
    var hasLostALease: Bool {
      account.failures["leaseLost"] != nil
        || members.values.contains { $0.outputSoFar.contains("failed leaseLost\n") }
    }

    // MARK: Ends

    /// Ends all processes, syncs once undisturbed, and returns the reported edits.
    mutating func end() async throws -> Account {
      for process in members.values { process.send(SIGTERM) }
      for (name, process) in members {
        members[name] = nil
        let outcome = await process.outcome()
        // A process that has just started may not handle the signal yet.
        #expect(outcome.status == 0 || outcome.status == SIGTERM, "\(outcome.errors)")
        account.add(outcome.output)
      }
      server.onRequest(nil)
      let outcome = try await start("settle", "last").outcome()
      #expect(outcome.status == 0, "\(outcome.errors)")
      return account
    }

    /// Ends all processes after any failure.
    func killAll() {
      for process in members.values { process.send(SIGKILL) }
    }
  }

  /// Waits for the next client of the server, or for one some requests later.
  private final class Ambush: Sendable {
    private struct State {
      var requests: [String: Int] = [:]
      var left = 0
      var act: (@Sendable (String) -> Void)?
      var waiter: CheckedContinuation<String, Never>?
    }
    private let state = Mutex(State())

    /// Acts on a later request's client, during the request or just after its answer.
    func strike(afterRequests count: Int, _ act: @escaping @Sendable (String) -> Void) async -> String {
      await withTaskCancellationHandler {
        await withCheckedContinuation { waiter in
          state.withLock { state in
            state.left = count
            state.act = act
            state.waiter = waiter
          }
          if Task.isCancelled { abandon() }
        }
      } onCancel: {
        abandon()
      }
    }

    /// Ends the wait without an act, at the test's time limit.
    private func abandon() {
      let waiter = state.withLock { state in
        defer { (state.act, state.waiter) = (nil, nil) }
        return state.waiter
      }
      waiter?.resume(returning: "")
    }

    func requests(exceptOf name: String) -> Int {
      state.withLock { $0.requests.reduce(0) { $0 + ($1.key == name ? 0 : $1.value) } }
    }

    /// Reports a request.
    func pass(_ name: String) {
      let due = state.withLock { state -> State? in
        state.requests[name, default: 0] += 1
        state.left -= 1
        guard state.left == 0, state.act != nil else { return nil }
        defer { (state.act, state.waiter) = (nil, nil) }
        return state
      }
      guard let due else { return }
      Thread.detachNewThread {
        due.act?(name)
        due.waiter?.resume(returning: name)
      }
    }
  }
#endif
