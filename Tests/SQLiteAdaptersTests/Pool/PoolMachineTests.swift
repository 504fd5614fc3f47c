#if SQLite
  import Testing

  @testable import SQLiteAdapters

  /// The decisions of a pool, without stores. The name of a store is its key with an apostrophe.
  @Suite("The decisions of a pool")
  struct PoolMachineTests {
    typealias Machine = PoolMachine<String, String>

    private struct Refusal: Error {}

    private func text(_ answer: Machine.Answer?) -> String {
      switch answer {
      case .use(let store): "use \(store)"
      case .open(closing: nil): "open"
      case .open(let closing?): "open, close \(closing.store)"
      case .fail(let error): "fail \(error)"
      case nil: "wait"
      }
    }

    private func texts(_ answers: Machine.Answers) -> [String] {
      answers.map { "\($0.request) \(text($0.answer))" }
    }

    private func ask(_ machine: inout Machine, _ key: String, _ request: Int) -> String {
      text(machine.ask(key, request: request, refusal: Refusal()))
    }

    /// A machine with some stores that are idle, the first one least recently used.
    private func machine(idle: [String], mostOpen: Int, mostBusy: Int) -> Machine {
      var machine = Machine(mostOpen: mostOpen, mostBusy: mostBusy)
      for key in idle {
        #expect(ask(&machine, key, 0) == "open")
        #expect(machine.opened(key, key + "'").isEmpty)
        #expect(machine.giveBack(key).closing == nil)
      }
      return machine
    }

    @Test func storesStayOpenAndAreLentAgain() {
      var machine = machine(idle: ["a"], mostOpen: 2, mostBusy: 2)
      #expect(ask(&machine, "a", 1) == "use a'")
      #expect(machine.open == 1 && machine.busy == 1)
      #expect(ask(&machine, "a", 2) == "use a'")
      #expect(machine.open == 1 && machine.busy == 1)
      _ = machine.giveBack("a")
      #expect(machine.busy == 1)
      _ = machine.giveBack("a")
      #expect(machine.open == 1 && machine.busy == 0)
    }

    @Test func thoseWhoAskDuringAnOpeningShareIt() {
      var machine = Machine(mostOpen: 2, mostBusy: 2)
      #expect(ask(&machine, "a", 1) == "open")
      #expect(ask(&machine, "a", 2) == "wait")
      #expect(ask(&machine, "a", 3) == "wait")
      #expect(texts(machine.opened("a", "a'")) == ["2 use a'", "3 use a'"])
      for _ in 0..<3 { _ = machine.giveBack("a") }
      #expect(machine.busy == 0 && machine.waiting == 0)
    }

    @Test func theLeastRecentlyUsedStoreGivesWay() {
      var machine = machine(idle: ["a", "b", "c"], mostOpen: 3, mostBusy: 2)
      #expect(ask(&machine, "a", 1) == "use a'")
      _ = machine.giveBack("a")
      #expect(ask(&machine, "d", 2) == "open, close b'")
      // The new store has the old one's room.
      #expect(machine.open == 3)
      #expect(machine.closed("b").isEmpty)
      #expect(machine.open == 3 && machine.busy == 1 && !machine.has("b"))
    }

    @Test func aStoreThatIsBeingClosedIsOpenedAfterThat() {
      var machine = machine(idle: ["a"], mostOpen: 1, mostBusy: 2)
      #expect(ask(&machine, "b", 1) == "open, close a'")
      #expect(ask(&machine, "a", 2) == "wait")
      #expect(texts(machine.closed("a")) == [])
      #expect(machine.opened("b", "b'").isEmpty)
      #expect(texts(machine.giveBack("b").answers) == ["2 open, close b'"])
    }

    @Test func requestsAreServedInOrderAndTogetherForOneStore() {
      var machine = Machine(mostOpen: 1, mostBusy: 1)
      #expect(ask(&machine, "a", 1) == "open")
      _ = machine.opened("a", "a'")
      for (request, key) in ["b", "c", "b", "d"].enumerated() {
        #expect(ask(&machine, key, 10 + request) == "wait")
      }
      #expect(machine.waiting == 4)
      // The store that is lent needs no turn.
      #expect(ask(&machine, "a", 2) == "use a'")
      _ = machine.giveBack("a")
      #expect(texts(machine.giveBack("a").answers) == ["10 open, close a'"])
      _ = machine.closed("a")
      #expect(texts(machine.opened("b", "b'")) == ["12 use b'"])
      _ = machine.giveBack("b")
      #expect(texts(machine.giveBack("b").answers) == ["11 open, close b'"])
      // It asks later than the others, and its store is the idle one that gave way.
      #expect(ask(&machine, "b", 20) == "wait")
      _ = machine.closed("b")
      _ = machine.opened("c", "c'")
      #expect(texts(machine.giveBack("c").answers) == ["13 open, close c'"])
    }

    @Test func anIdleStoreWaitsForAThreadBehindTheOthers() {
      var machine = machine(idle: ["a", "b"], mostOpen: 3, mostBusy: 1)
      #expect(ask(&machine, "a", 1) == "use a'")
      #expect(ask(&machine, "c", 2) == "wait")
      #expect(ask(&machine, "b", 3) == "wait")
      #expect(texts(machine.giveBack("a").answers) == ["2 open"])
      _ = machine.opened("c", "c'")
      #expect(texts(machine.giveBack("c").answers) == ["3 use b'"])
    }

    @Test func aRequestThatLeavesLetsTheOthersPass() {
      var machine = machine(idle: ["a"], mostOpen: 1, mostBusy: 2)
      #expect(ask(&machine, "b", 1) == "open, close a'")
      // It waits for the end of a store, and the one behind it waits for it.
      #expect(ask(&machine, "a", 2) == "wait")
      #expect(ask(&machine, "b", 3) == "wait")
      #expect(ask(&machine, "c", 4) == "wait")
      machine.leave("a", request: 2)
      _ = machine.closed("a")
      #expect(texts(machine.opened("b", "b'")) == ["3 use b'"])
      machine.leave("c", request: 4)
      _ = machine.giveBack("b")
      #expect(machine.giveBack("b").answers.isEmpty && machine.waiting == 0)
    }

    @Test func aFailureGoesToThoseWhoAskedAndLeavesTheRoomToOthers() {
      var machine = Machine(mostOpen: 1, mostBusy: 1)
      #expect(ask(&machine, "a", 1) == "open")
      #expect(ask(&machine, "b", 2) == "wait")
      #expect(ask(&machine, "a", 3) == "wait")
      #expect(texts(machine.failed("a", Refusal(), isCancelled: false)) == ["3 fail Refusal()", "2 open"])
      #expect(machine.open == 1 && machine.busy == 1)
    }

    @Test func aCancelledOpenerLeavesTheOpeningToTheNext() {
      var machine = Machine(mostOpen: 1, mostBusy: 1)
      for request in 1...3 { _ = ask(&machine, "a", request) }
      #expect(ask(&machine, "b", 4) == "wait")
      #expect(texts(machine.failed("a", Refusal(), isCancelled: true)) == ["2 open"])
      #expect(texts(machine.opened("a", "a'")) == ["3 use a'"])
      _ = machine.giveBack("a")
      #expect(texts(machine.giveBack("a").answers) == ["4 open, close a'"])
    }

    @Test func idleStoresAreTakenByTheirAge() {
      var machine = machine(idle: ["a", "b", "c"], mostOpen: 3, mostBusy: 3)
      #expect(machine.takeIdle(leaving: 1).map(\.store) == ["a'", "b'"])
      #expect(machine.open == 3 && machine.busy == 0)
      _ = machine.closed("a")
      #expect(machine.open == 2 && machine.busy == 0)
      #expect(machine.takeIdle(leaving: 5).isEmpty && machine.takeIdle(leaving: -1).count == 1)
    }

    @Test func aStoreIsClosedByItsLastUser() {
      var machine = machine(idle: ["a", "b"], mostOpen: 3, mostBusy: 3)
      #expect(machine.condemn("b") == "b'" && machine.condemn("b") == nil && machine.condemn("c") == nil)
      for request in 1...2 { #expect(ask(&machine, "a", request) == "use a'") }
      #expect(machine.condemn("a") == nil)
      #expect(machine.giveBack("a").closing == nil)
      #expect(machine.giveBack("a").closing == "a'")
      // Those who come then get a new one.
      #expect(ask(&machine, "a", 3) == "wait")
      #expect(texts(machine.closed("a")) == ["3 open"])
      _ = machine.opened("a", "a2")
      #expect(machine.giveBack("a").closing == nil)
    }

    @Test func aStoreToBeClosedIsLentAgainOnlyToThoseWhoHaveIt() {
      var machine = machine(idle: ["a", "b"], mostOpen: 3, mostBusy: 3)
      #expect(ask(&machine, "a", 1) == "use a'")
      #expect(machine.condemn("a") == nil)
      #expect(ask(&machine, "a", 2) == "wait")
      #expect(text(machine.ask("a", request: 3, isRepeated: true, refusal: Refusal())) == "use a'")
      // Requests for other stores do not wait behind it.
      #expect(ask(&machine, "b", 4) == "use b'")
      #expect(ask(&machine, "c", 5) == "open")
      #expect(ask(&machine, "d", 6) == "wait")
      #expect(texts(machine.giveBack("b").answers) == ["6 open, close b'"])
      #expect(machine.giveBack("a").closing == nil)
      #expect(machine.giveBack("a").closing == "a'")
      #expect(ask(&machine, "e", 7) == "wait")
      #expect(texts(machine.closed("a")) == ["2 open"])
    }

    @Test func aClosedPoolFailsAllButTheOpenings() {
      var machine = machine(idle: ["a"], mostOpen: 2, mostBusy: 2)
      _ = ask(&machine, "a", 1)
      for request in 2...3 { _ = ask(&machine, "b", request) }
      _ = ask(&machine, "c", 4)
      #expect(texts(machine.refuse(Refusal())) == ["4 fail Refusal()"])
      #expect(ask(&machine, "a", 5) == "fail Refusal()")
      #expect(texts(machine.opened("b", "b'")) == ["3 use b'"])
      _ = machine.giveBack("b")
      #expect(machine.giveBack("b").closing == "b'" && machine.giveBack("a").closing == "a'")
      for key in ["a", "b"] { #expect(machine.closed(key).isEmpty) }
      #expect(machine.isEmpty && machine.open == 0 && machine.busy == 0)
    }

    /// Random requests: the budget holds at every instant, and all requests end.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func theBudgetHoldsAtEveryInstant(seed: UInt64) {
      var random = Numbers(seed: seed)
      let most = (open: 1 + random.below(4), busy: 1 + random.below(4))
      var machine = Machine(mostOpen: most.open, mostBusy: most.busy)
      var steps: [(inout Machine) -> Machine.Answers] = []
      var waiting: [Int: String] = [:]
      var (lends, ended, open) = (0, 0, Set<String>())

      func act(_ answer: Machine.Answer, _ key: String) {
        switch answer {
        case .use:
          #expect(open.contains(key))
          lends += 1
          steps.append { machine in
            (lends, ended) = (lends - 1, ended + 1)
            let (closing, answers) = machine.giveBack(key)
            if closing != nil { steps.append { close(key, &$0) } }
            return answers
          }
        case .open(let idle):
          if let idle { open.remove(idle.key) }
          #expect(open.insert(key).inserted && open.count <= most.open)
          steps.append { machine in
            let answers = idle.map { machine.closed($0.key) } ?? []
            steps.append { machine in
              let kind = random.below(6)
              if kind < 2 {
                open.remove(key)
                ended += 1
                return machine.failed(key, Refusal(), isCancelled: kind == 0)
              }
              act(.use(key), key)
              return machine.opened(key, key)
            }
            return answers
          }
        case .fail: ended += 1
        }
      }
      func close(_ key: String, _ machine: inout Machine) -> Machine.Answers {
        open.remove(key)
        return machine.closed(key)
      }
      func settle(_ answers: Machine.Answers) {
        for (request, answer) in answers {
          guard let key = waiting.removeValue(forKey: request) else {
            Issue.record("request \(request) got a second answer")
            continue
          }
          act(answer, key)
        }
        #expect(machine.open <= most.open && machine.busy <= most.busy && open.count <= machine.open)
        #expect(machine.waiting == waiting.count)
      }

      for request in 0..<400 {
        let key = "k\(random.below(8))"
        waiting[request] = key
        if let answer = machine.ask(key, request: request, refusal: Refusal()) {
          settle([(request, answer)])
        }
        if random.below(9) == 0, let (other, key) = waiting.randomElement(using: &random) {
          waiting[other] = nil
          ended += 1
          machine.leave(key, request: other)
          settle(machine.serve())
        }
        if random.below(9) == 0 {
          for idle in machine.takeIdle(leaving: random.below(3)) { steps.append { close(idle.key, &$0) } }
        }
        for _ in 0..<random.below(4) where !steps.isEmpty {
          let step = steps.remove(at: random.below(steps.count))
          settle(step(&machine))
        }
      }
      while let step = steps.popLast() { settle(step(&machine)) }
      #expect(waiting.isEmpty && lends == 0 && ended == 400 && machine.busy == 0)
    }
  }

  /// Random numbers that are determined by one.
  private struct Numbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 }

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }
  }
#endif
