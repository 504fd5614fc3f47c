#if SQLite
  /// Decides who gets a store of a pool, and opens and closes none itself.
  ///
  /// A store has room from the begin of its opening to the end of its closing. It is busy while it
  /// is opened or lent, and while its last user closes it. A store that is closed to make room
  /// passes its room on.
  ///
  /// Requests for one key wait together, because they share one store.
  struct PoolMachine<Key: Hashable & Sendable, Store: Sendable>: Sendable {
    /// The answer to a request.
    enum Answer: Sendable {
      /// The store is lent. ``giveBack(_:)`` ends that.
      case use(Store)
      /// The requester closes the idle store, if there is one, and opens its own.
      ///
      /// It reports each step: ``closed(_:)``, then ``opened(_:_:)`` or
      /// ``failed(_:_:isCancelled:)``.
      case open(closing: (key: Key, store: Store)?)
      /// The request failed.
      case fail(any Error)
    }

    /// Answers to requests that have waited.
    typealias Answers = [(request: Int, answer: Answer)]

    private enum Slot {
      case opening
      case open(Store, lends: Int)
      /// - Parameters:
      ///   - hasRoom: Whether no other store has its room yet.
      ///   - isBusy: Whether its last user closes it.
      case closing(hasRoom: Bool, isBusy: Bool)
    }

    private let most: (open: Int, busy: Int)
    private var slots: [Key: Slot] = [:]
    /// The requests that wait, in the order of their arrival.
    private var requests: [Key: [Int]] = [:]
    /// The keys whose requests wait for a turn, not for an opening in progress.
    private var queue: [Key] = []
    /// The stores that are open and not lent, the least recently used one first.
    private var idle: [Key] = []
    /// The stores to be closed when they are no longer lent.
    private var condemned: Set<Key> = []
    private var isClosed = false

    /// The number of stores that have room.
    private(set) var open = 0
    /// The number of stores that are busy.
    private(set) var busy = 0

    /// - Parameters:
    ///   - mostOpen: The number of stores that may be open at once.
    ///   - mostBusy: The number of stores that may be busy at once.
    init(mostOpen: Int, mostBusy: Int) {
      most = (mostOpen, mostBusy)
    }

    /// The number of requests that wait.
    var waiting: Int { requests.values.reduce(0) { $0 + $1.count } }

    /// Whether no store has room.
    var isEmpty: Bool { slots.isEmpty }

    /// Whether a store is open, being opened or being closed.
    func has(_ key: Key) -> Bool { slots[key] != nil }

    // MARK: Requests

    /// Requests a store. Without an answer, the request waits.
    ///
    /// - Parameter isRepeated: Whether the requester has the store already. A store that is to be
    ///   closed is lent only to those.
    mutating func ask(
      _ key: Key, request: Int, isRepeated: Bool = false, refusal: @autoclosure () -> any Error
    ) -> Answer? {
      if isClosed { return .fail(refusal()) }
      switch slots[key] {
      case .open(let store, let lends) where lends > 0 && (isRepeated || !isEnding(key)):
        // A lent store needs nothing more. A caller that has it may ask again without a deadlock.
        slots[key] = .open(store, lends: lends + 1)
        return .use(store)
      case .opening:
        requests[key, default: []].append(request)
        return nil
      default:
        if queue.allSatisfy(isEnding), let answer = admit(key) { return answer }
        if requests[key] == nil { queue.append(key) }
        requests[key, default: []].append(request)
        return nil
      }
    }

    /// Takes a waiting request back. ``serve()`` then serves those behind it.
    mutating func leave(_ key: Key, request: Int) {
      requests[key]?.removeAll { $0 == request }
      guard requests[key]?.isEmpty == true else { return }
      requests[key] = nil
      queue.removeAll { $0 == key }
    }

    /// Answers the requests whose turn has come.
    mutating func serve() -> Answers {
      var answers: Answers = []
      while let place = queue.firstIndex(where: { !isEnding($0) }), let answer = admit(queue[place]) {
        let key = queue.remove(at: place)
        var others = requests.removeValue(forKey: key) ?? []
        answers.append((others.removeFirst(), answer))
        if case .use = answer {
          answers += lend(key, to: others)
        } else if !others.isEmpty {
          requests[key] = others
        }
      }
      return answers
    }

    /// Whether a store is being closed, or will be after its lends.
    ///
    /// Requests for it wait for that, and not for room.
    private func isEnding(_ key: Key) -> Bool {
      switch slots[key] {
      case .closing: true
      case .open: condemned.contains(key)
      case .opening, nil: false
      }
    }

    /// Gives a key its store, or room to open it.
    private mutating func admit(_ key: Key) -> Answer? {
      guard busy < most.busy, !isEnding(key) else { return nil }
      switch slots[key] {
      case .opening, .closing: return nil
      case .open(let store, _):
        idle.removeAll { $0 == key }
        slots[key] = .open(store, lends: 1)
        busy += 1
        return .use(store)
      case nil:
        var oldest: (key: Key, store: Store)?
        if open < most.open {
          open += 1
        } else {
          guard let key = idle.first, case .open(let store, _) = slots[key] else { return nil }
          idle.removeFirst()
          slots[key] = .closing(hasRoom: false, isBusy: false)
          oldest = (key, store)
        }
        busy += 1
        slots[key] = .opening
        return .open(closing: oldest)
      }
    }

    private mutating func lend(_ key: Key, to others: [Int]) -> Answers {
      guard case .open(let store, let lends) = slots[key] else { return [] }
      slots[key] = .open(store, lends: lends + others.count)
      return others.map { ($0, .use(store)) }
    }

    // MARK: Stores

    /// Notes an open store, and lends it.
    ///
    /// Those who asked meanwhile get it as well.
    mutating func opened(_ key: Key, _ store: Store) -> Answers {
      slots[key] = .open(store, lends: 1)
      return lend(key, to: requests.removeValue(forKey: key) ?? [])
    }

    /// Notes a failed opening.
    ///
    /// Those who asked meanwhile get its error. If its task was cancelled, one of them opens the
    /// store instead.
    mutating func failed(_ key: Key, _ error: any Error, isCancelled: Bool) -> Answers {
      remove(key)
      var answers: Answers = []
      if isCancelled, requests[key] != nil {
        queue.insert(key, at: 0)
      } else {
        answers = (requests.removeValue(forKey: key) ?? []).map { ($0, .fail(error)) }
      }
      return answers + serve()
    }

    /// Ends a lend.
    ///
    /// - Returns: A store that the caller has to close now, before ``closed(_:)``.
    mutating func giveBack(_ key: Key) -> (closing: Store?, answers: Answers) {
      guard case .open(let store, let lends) = slots[key] else { return (nil, []) }
      guard lends == 1 else {
        slots[key] = .open(store, lends: lends - 1)
        return (nil, [])
      }
      if isClosed || condemned.contains(key) {
        slots[key] = .closing(hasRoom: true, isBusy: true)
        return (store, [])
      }
      slots[key] = .open(store, lends: 0)
      idle.append(key)
      busy -= 1
      return (nil, serve())
    }

    /// Notes a closed store.
    mutating func closed(_ key: Key) -> Answers {
      remove(key)
      return serve()
    }

    private mutating func remove(_ key: Key) {
      condemned.remove(key)
      var (hasRoom, isBusy) = (true, true)
      if case .closing(let room, let busy) = slots.removeValue(forKey: key) {
        (hasRoom, isBusy) = (room, busy)
      }
      if hasRoom { open -= 1 }
      if isBusy { busy -= 1 }
    }

    // MARK: Closing

    /// Takes the least recently used idle stores, which the caller has to close.
    mutating func takeIdle(leaving count: Int = 0) -> [(key: Key, store: Store)] {
      idle.prefix(max(0, idle.count - max(0, count))).compactMap { takeIdle($0) }
    }

    /// Takes an idle store, which the caller has to close.
    ///
    /// A store that is not idle is closed by its last user.
    mutating func condemn(_ key: Key) -> Store? {
      switch slots[key] {
      case .open(_, lends: 0): return takeIdle(key)?.store
      case .open, .opening: condemned.insert(key)
      case .closing, nil: break
      }
      return nil
    }

    /// Fails the requests that wait and all later ones.
    ///
    /// Stores that are being opened are still lent. The last user of a store closes it.
    mutating func refuse(_ error: any Error) -> Answers {
      isClosed = true
      defer { queue = [] }
      return queue.flatMap { requests.removeValue(forKey: $0) ?? [] }.map { ($0, .fail(error)) }
    }

    private mutating func takeIdle(_ key: Key) -> (key: Key, store: Store)? {
      guard case .open(let store, lends: 0) = slots[key] else { return nil }
      idle.removeAll { $0 == key }
      slots[key] = .closing(hasRoom: true, isBusy: false)
      return (key, store)
    }
  }
#endif
