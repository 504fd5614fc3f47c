import SyncModels
import SyncPorts

/// Reads of single records, which share transactions.
///
/// A read that begins while enough others are under way waits for the end of one of them. Those that
/// wait then share one transaction, which one of their tasks runs, or a thread of the store that goes on
/// from one transaction to the next. So a server's reads take more records at a time the busier it is,
/// instead of more transactions. No read sees a state older than its call.
final class CoalescedReads: Sendable {
  /// The number of transactions at a time: one is answered while the other one is sent.
  private static let width = 2
  /// The most reads that share a transaction.
  private static let mostReads = 64

  /// A record, and the state of its pending edit.
  struct Found: Sendable {
    var record: Record?
    var edit: EditState?
  }

  /// What a waiting task goes on with.
  private enum Turn: Sendable {
    /// It reads for some others too.
    case read([Wish])
    /// Another task has read for it.
    case done(Result<Found, SyncError>)
    /// It reads alone, because a shared read has failed, perhaps because of one of the records.
    case alone
  }

  /// What the waiting task with a ticket is to read.
  private struct Wish: Sendable {
    let ticket: Int
    let ids: [RecordID]
  }

  private struct State {
    var running = 0
    var tickets = 0
    /// The wishes that no task reads yet.
    var wishes: [Wish] = []
  }

  private let store: any LocalStore
  /// The store, if threads of its own read for all tasks.
  private let inTurn: (any ReadingInTurn)?
  private let queue = WaitQueue<State, Turn>(State())

  init(_ store: any LocalStore) {
    self.store = store
    inTurn = (store as? any ReadingInTurn).flatMap { $0.readsInTurn ? $0 : nil }
  }

  /// Reads the first of some records that is there, and the state of its edit, as of one state of the
  /// store.
  ///
  /// It leaves the caller's actor, which others' reads do not wait for.
  @concurrent
  func find(_ ids: [RecordID]) async throws(SyncError) -> Found {
    switch await turn(for: ids) {
    case .read(let others): return try await read(ids, others)
    case .done(let result): return try result.get()
    case .alone: return try await read([ids])[0]
    case nil: throw SyncError(.cancelled, during: "reading the store", "The task was cancelled.")
    }
  }

  /// Waits for a turn; `nil` once the task is cancelled, also while another task reads for it.
  private func turn(for ids: [RecordID]) async -> Turn? {
    let ticket = queue.update { state, _ -> Int? in
      if inTurn == nil, Self.begin(&state) { return nil }
      state.tickets += 1
      return state.tickets
    }
    guard let ticket else { return .read([]) }
    return await queue.wait(as: ticket) { state in
      // Meanwhile the others may have ended.
      let begins = Self.begin(&state)
      if begins, inTurn == nil { return .read([]) }
      state.wishes.append(Wish(ticket: ticket, ids: ids))
      // Under the lock, as the turns end where no wish is left.
      if begins { inTurn?.readInTurn { [self] in nextTurn() } }
      return nil
    } leave: { state in
      state.wishes.removeAll { $0.ticket == ticket }
    }
  }

  private static func begin(_ state: inout State) -> Bool {
    guard state.running < width else { return false }
    state.running += 1
    return true
  }

  /// Reads for a task, and for others that wait.
  private func read(_ ids: [RecordID], _ others: [Wish]) async throws(SyncError) -> Found {
    let found: [Found]
    do throws(SyncError) {
      found = try await read([ids] + others.map(\.ids))
    } catch {
      if error.code == .cancelled {
        end(before: others)
      } else {
        end(Self.turns(of: others, after: error))
        if !others.isEmpty, !Self.isOfTheStore(error) { return try await read([ids])[0] }
      }
      throw error
    }
    end(zip(others, found.dropFirst()).map { ($0, .done(.success($1))) })
    return found[0]
  }

  /// Takes the wishes that wait, for a thread of the store.
  private func nextTurn() -> ReadTurn<[Found]>? {
    let wishes = queue.update { state, _ in
      let wishes = Array(state.wishes.prefix(Self.mostReads))
      state.wishes.removeFirst(wishes.count)
      if wishes.isEmpty { state.running -= 1 }
      return wishes
    }
    if wishes.isEmpty { return nil }
    return ReadTurn { (snapshot) throws(SyncError) in
      try Self.find(wishes.map(\.ids), in: snapshot)
    } end: { [queue] result in
      let turns =
        switch result {
        case .success(let found): zip(wishes, found).map { ($0, Turn.done(.success($1))) }
        case .failure(let error): Self.turns(of: wishes, after: error, isShared: wishes.count > 1)
        }
      queue.update { _, waiters in
        for (wish, turn) in turns { _ = waiters.deliver(turn, to: wish.ticket) }
      }
    }
  }

  private static func turns(
    of wishes: [Wish], after error: SyncError, isShared: Bool = true
  ) -> [(Wish, Turn)] {
    wishes.map { ($0, isShared && !isOfTheStore(error) ? .alone : .done(.failure(error))) }
  }

  /// Whether an error is not that of a single record.
  private static func isOfTheStore(_ error: SyncError) -> Bool {
    error.code == .storeBusy || error.code == .storeFailure
  }

  /// Lets the tasks that wait read together.
  ///
  /// - Parameters:
  ///   - turns: What tasks go on with.
  ///   - first: The wishes of tasks that have waited longer, and wait again.
  private func end(_ turns: [(Wish, Turn)] = [], before first: [Wish] = []) {
    queue.update { state, waiters in
      state.wishes.insert(contentsOf: first, at: 0)
      var isOver = true
      while isOver, !state.wishes.isEmpty {
        let leader = state.wishes.removeFirst()
        let others = Array(state.wishes.prefix(Self.mostReads - 1))
        // A task that was cancelled meanwhile does not read for others.
        guard waiters.deliver(.read(others), to: leader.ticket) else { continue }
        state.wishes.removeFirst(others.count)
        isOver = false
      }
      if isOver { state.running -= 1 }
      for (wish, turn) in turns { _ = waiters.deliver(turn, to: wish.ticket) }
    }
  }

  private func read(_ wanted: [[RecordID]]) async throws(SyncError) -> [Found] {
    try await store.read { (snapshot) throws(SyncError) in try Self.find(wanted, in: snapshot) }
  }

  private static func find(
    _ wanted: [[RecordID]], in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [Found] {
    // Many readers may ask for one record.
    let ids = wanted.count == 1 ? wanted[0] : Array(Set(wanted.joined()))
    var records: [RecordID: Record] = [:]
    for case let record? in try snapshot.records(withIDs: ids) { records[record.id] = record }
    var found: [Found] = []
    for ids in wanted {
      var record = ids.lazy.compactMap { records[$0] }.first
      // An app may hold a key that the remote has replaced by one of its own.
      if record == nil, let id = ids.first { record = try snapshot.movedRecord(id) }
      found.append(Found(record: record))
    }
    let live = Set(found.compactMap(\.record?.id))
    var edited: [RecordID] = []
    for type in Set(live.map(\.type)) where try snapshot.outboxCount(type) > 0 {
      edited += live.filter { $0.type == type }
    }
    let edits = try ReadRecords.states(of: edited, in: snapshot)
    for place in found.indices { found[place].edit = found[place].record.flatMap { edits[$0.id] } }
    return found
  }
}
