import SyncModels
import SyncPorts
import Synchronization

/// Reads of single records, which share transactions.
///
/// A read that begins while enough others are under way waits for the end of one of them. Those that
/// wait then share one transaction, which one of their tasks runs. So a server's reads take more records
/// at a time the busier it is, instead of more transactions. No read sees a state older than its
/// call.
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
  private enum Turn {
    /// It reads for some others too.
    case read([Waiter])
    /// Another task has read for it.
    case done(Result<Found, SyncError>)
    /// It reads alone, because a shared read has failed, perhaps because of one of the records.
    case alone
  }

  private struct Waiter {
    let number: Int
    let ids: [RecordID]
    let continuation: CheckedContinuation<Turn, Never>
  }

  private struct State {
    var running = 0
    var tickets = 0
    var waiting: [Waiter] = []
  }

  private let store: any LocalStore
  private let state = Mutex(State())

  init(_ store: any LocalStore) { self.store = store }

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
    }
  }

  private func turn(for ids: [RecordID]) async -> Turn {
    let ticket = state.withLock { state -> Int? in
      if Self.begin(&state) { return nil }
      state.tickets += 1
      return state.tickets
    }
    guard let ticket else { return .read([]) }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // Meanwhile the others may have ended.
        let begins = state.withLock { state in
          if Self.begin(&state) { return true }
          state.waiting.append(Waiter(number: ticket, ids: ids, continuation: continuation))
          return false
        }
        if begins { continuation.resume(returning: .read([])) }
        if Task.isCancelled { leave(ticket) }
      }
    } onCancel: {
      leave(ticket)
    }
  }

  private static func begin(_ state: inout State) -> Bool {
    guard state.running < width else { return false }
    state.running += 1
    return true
  }

  private func leave(_ ticket: Int) {
    let waiter = state.withLock { state in
      state.waiting.firstIndex { $0.number == ticket }.map { state.waiting.remove(at: $0) }
    }
    let error = SyncError(.cancelled, during: "reading the store", "The task was cancelled.")
    waiter?.continuation.resume(returning: .done(.failure(error)))
  }

  /// Reads for a task, and for others that wait.
  private func read(_ ids: [RecordID], _ others: [Waiter]) async throws(SyncError) -> Found {
    let found: [Found]
    do throws(SyncError) {
      found = try await read([ids] + others.map(\.ids))
    } catch {
      switch error.code {
      case .cancelled: end(before: others)
      case .storeBusy, .storeFailure:
        end()
        for other in others { other.continuation.resume(returning: .done(.failure(error))) }
      default:
        end()
        for other in others { other.continuation.resume(returning: .alone) }
        if !others.isEmpty { return try await read([ids])[0] }
      }
      throw error
    }
    end()
    for (other, found) in zip(others, found.dropFirst()) {
      other.continuation.resume(returning: .done(.success(found)))
    }
    return found[0]
  }

  /// Lets the tasks that wait read together.
  ///
  /// - Parameter first: Tasks that have waited longer, and wait again.
  private func end(before first: [Waiter] = []) {
    let next = state.withLock { state -> [Waiter] in
      state.waiting.insert(contentsOf: first, at: 0)
      let next = Array(state.waiting.prefix(Self.mostReads))
      state.waiting.removeFirst(next.count)
      if next.isEmpty { state.running -= 1 }
      return next
    }
    next.first?.continuation.resume(returning: .read(Array(next.dropFirst())))
  }

  private func read(_ wanted: [[RecordID]]) async throws(SyncError) -> [Found] {
    try await store.read { (snapshot) throws(SyncError) in
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
}
