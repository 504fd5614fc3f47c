import InMemoryAdapters
import SyncCore
import SyncModels
import Synchronization

/// The edits of other clients at the remote, with complete knowledge of them.
final class RemoteEdits: Sendable {
  private let remotes: Remotes
  private let shape: WorldShape
  private let records: WorldRecords?
  private let sums: Sums?
  private let keys: AssignedKeys
  private let choices: Choices
  private let watch: Watch
  private let ledger: Ledger
  private let trace: Trace
  private let malformed = Mutex<Set<RecordID>>([])
  /// The time at which each change became visible.
  private let commits = Mutex<[(type: RecordType, time: Timestamp)]>([])
  /// The number of changes that are not visible yet.
  private let late = Mutex(0)
  private let clock: ManualClock
  private let ruled = Mutex<[RecordID]>([])
  private let stuck = Mutex<Set<RecordID>>([])
  private let leftOut = Mutex<Set<RecordID>>([])
  private let isCalm = Mutex(false)
  private let lasting = Mutex<Set<RecordID>>([])
  private let isWiped = Mutex(false)
  private let isRestoredUntold = Mutex(false)

  init(
    _ remotes: Remotes, shape: WorldShape, records: WorldRecords?, sums: Sums?, keys: AssignedKeys,
    clock: ManualClock, choices: Choices, watch: Watch, ledger: Ledger, trace: Trace
  ) {
    self.clock = clock
    self.watch = watch
    self.remotes = remotes
    self.shape = shape
    self.records = records
    self.sums = sums
    self.keys = keys
    self.choices = choices
    self.ledger = ledger
    self.trace = trace
  }

  private var remote: InMemoryRemote { remotes.current }

  /// The records of which the remote has only unreadable bytes.
  var malformedRecords: Set<RecordID> { malformed.withLock { $0 } }

  /// Whether versions have started over.
  var wasWiped: Bool { isWiped.withLock { $0 } }

  /// Whether the remote was restored from a backup, and only the app's users know.
  var wasRestoredUntold: Bool { isRestoredUntold.withLock { $0 } }

  /// A backup of the remote, with what is known of it.
  struct Backup {
    fileprivate var remote: InMemoryRemote.Backup
    fileprivate var malformed: Set<RecordID>
  }

  /// Makes a backup of the remote.
  func backUp() -> Backup {
    trace.tell("remote", as: .world, "is backed up")
    return Backup(remote: remote.backUp(), malformed: malformedRecords)
  }

  /// Restores the remote from a backup, unless a store could not learn of it.
  ///
  /// - Returns: Whether it was restored.
  func restore(_ backup: Backup, isTold: Bool) -> Bool {
    guard !isTold || watch.types.allSatisfy(isKnown) else { return false }
    trace.tell("remote", as: .fault, "is restored from its backup\(isTold ? "" : ", and does not tell")")
    ledger.saw(isTold ? .remoteRestored : .restorationUntold)
    isWiped.withLock { $0 = true }
    if !isTold { isRestoredUntold.withLock { $0 = true } }
    let before = present
    remote.restore(backup.remote, isTold: isTold)
    malformed.withLock { $0 = backup.malformed }
    // A replica lags behind the restored state only by what follows.
    commits.withLock { $0 = [] }
    let after = present
    for id in Set(before.keys).union(after.keys).sorted() where before[id] != after[id] {
      trace.tell(
        "remote", as: .write, "\(id) is as it was: \(after[id] ?? "gone")",
        facts: .remote(id, after[id].map { .copy($0) } ?? .nothing))
    }
    return true
  }

  /// Every readable record of the remote.
  private var present: [RecordID: String] {
    var present: [RecordID: String] = [:]
    for type in watch.types {
      for (key, payload) in remote.records(of: type) {
        present[RecordID(type: type, key: key)] = String(decoding: payload.bytes, as: UTF8.self)
      }
    }
    return present
  }

  /// Makes the remote refuse or postpone every edit of some record.
  func rule() {
    let id = anyRecord()
    let ruling: InMemoryRemote.PushRuling = choices.pick(
      .refused(reason: "It does not like it."), .retryLater(after: nil), .retryLater(after: .seconds(10)))
    trace.tell("remote", as: .world, "rules on \(id): \(ruling)")
    ruled.withLock { $0.append(id) }
    lasting.withLock { lasting in
      lasting.remove(id)
      if case .refused = ruling, shape.hazards.contains(.lastingRefusals) { lasting.insert(id) }
    }
    remote.rule(ruling, on: id.type, id.key)
  }

  /// Removes those rulings, except permanent ones.
  func relent() {
    isCalm.withLock { $0 = true }
    for id in ruled.withLock({ $0 }) where !refused.contains(id) { remote.rule(nil, on: id.type, id.key) }
  }

  /// Makes the sink throw at each batch that has a certain record.
  func choke() {
    let id = anyRecord()
    trace.tell("remote", as: .world, "chokes on \(id)")
    stuck.withLock { _ = $0.insert(id) }
  }

  /// The records at whose edits the sink throws.
  var choking: Set<RecordID> { stuck.withLock { $0 } }

  /// Sometimes writes as another client, directly on top of the remote's latest change.
  func goOn(from id: RecordID) {
    guard !isCalm.withLock({ $0 }), choices.once(in: 3) else { return }
    if sums != nil, id == Sums.id { return add() }
    let payload = payload(of: id)
    trace.tell(
      "remote", as: .write, "another client continues from \(id): \(payload)",
      facts: .remote(id, .copy(payload)))
    remote.upsert(id.type, id.key, payload)
    heal(id)
  }

  /// Makes one more write, of a league without references.
  func writeLast(_ id: RecordID) {
    let payload = #"{"id":"\#(id.key)","name":9,"parent":null,"schema":1\#(kept(of: id))}"#
    trace.tell("remote", as: .write, "\(id) is written at last", facts: .remote(id, .copy(payload)))
    remote.upsert(id.type, id.key, payload)
    heal(id)
  }

  /// Whether a listing has lacked an existing record.
  func wasLeftOut(_ id: RecordID) -> Bool { leftOut.withLock { $0.contains(id) } }

  /// Notes that a listing lacks an existing record.
  func leaveOut(_ id: RecordID) { leftOut.withLock { _ = $0.insert(id) } }

  /// The records whose edits are refused permanently.
  var refused: Set<RecordID> { lasting.withLock { $0 } }

  /// A random record of the world's ids.
  func anyRecord() -> RecordID {
    if let records, case let types = records.types, !types.isEmpty {
      let type = types[choices.below(types.count)]
      return RecordID(type: type, key: WorldRandom(choices, keys: shape.keys, of: records).key(of: type))
    }
    if shape.assignsKeys, case let given = keys.given, !given.isEmpty, choices.once(in: 3) {
      return given[choices.below(given.count)]
    }
    let type: RecordType = choices.pick("games", "teams", "leagues", "games")
    return RecordID(type: type, key: "\(type.rawValue.prefix(1))\(choices.number(in: 1...shape.keys))")
  }

  /// Whether a change with its own timestamp is not visible yet.
  var isAnythingLate: Bool { late.withLock { $0 } > 0 }

  /// The time by the server's clock.
  var now: Timestamp { clock.timestamp }

  /// The number of a type's changes in the last second, by the server's clock.
  func recent(_ type: RecordType) -> Int {
    let now = now
    return commits.withLock { commits in
      commits.reversed().prefix { $0.time >= now - .seconds(1) }.count { $0.type == type }
    }
  }

  /// Makes one random edit.
  ///
  /// - Returns: A change that becomes visible when it is committed, and the time until then.
  func edit() -> (commit: @Sendable () -> Void, delay: Duration)? {
    let id = anyRecord()
    let type = id.type
    let roll = choices.below(60)
    switch roll {
    case 55 where shape.hazards.contains(.wipes) && isKnown(type):
      wipe(type)
    case 56 where shape.hazards.contains(.expiringTokens):
      trace.tell("remote", as: .fault, "forgets the sync tokens of \(type)")
      remote.expireTokens(of: type)
    case 57 where shape.hazards.contains(.expiringTokens):
      trace.tell("remote", as: .fault, "forgets the page tokens of \(type)")
      remote.expirePageTokens(of: type)
    case 58...59 where sums != nil:
      add()
    case 40..<52:
      return delete(id)
    case 52..<55 where shape.hazards.contains(.malformed):
      if shape.hazards.contains(.namelessBytes), choices.once(in: 3) {
        trace.tell("remote", as: .write, "another client adds malformed bytes to \(type)")
        remote.putMalformed(type, nil, Array("{\(roll)".utf8))
        return nil
      }
      trace.tell("remote", as: .write, "\(id) becomes unreadable", facts: .remote(id, .unreadable))
      remote.putMalformed(type, id.key, Array("{\(roll)".utf8))
      malformed.withLock { _ = $0.insert(id) }
      commits.withLock { $0.append((type, now)) }
    default:
      return write(id)
    }
    return nil
  }

  /// Whether a store has a token of a type.
  ///
  /// Without one, the outcome of a push does not show that versions have started over.
  private func isKnown(_ type: RecordType) -> Bool {
    guard shape.hasEdits else { return true }
    let checkpoint = watch.checkpoint(of: type)
    return checkpoint?.committed != nil || checkpoint?.inFlight?.candidate != nil
  }

  /// Adds one to the number, as another client that keeps what it does not know.
  private func add() {
    let (type, key) = (Sums.id.type, Sums.id.key)
    guard let current = remote.records(of: type).first(where: { $0.key == key })?.payload,
      let sum = Sums.adding(to: current)
    else { return }
    let payload = String(decoding: sum.bytes, as: UTF8.self)
    trace.tell(
      "remote", as: .write, "another client adds to \(Sums.id): \(payload)",
      facts: .remote(Sums.id, .copy(payload)))
    sums?.add()
    remote.upsert(type, key, payload)
    heal(Sums.id)
  }

  private func wipe(_ type: RecordType) {
    trace.tell("remote", as: .write, "is wiped of \(type)", facts: .wiped(type))
    ledger.saw(.remoteWiped)
    isWiped.withLock { $0 = true }
    remote.wipe(type)
    malformed.withLock { $0 = $0.filter { $0.type != type } }
  }

  /// Fills the next remote with most of another one's current records.
  func settle(from old: InMemoryRemote) {
    forget()
    for type in watch.types {
      for (key, payload) in old.records(of: type) where choices.below(3) > 0 {
        remote.upsert(type, key, Array(payload.bytes))
      }
    }
    for _ in 0..<choices.below(6) { edit()?.commit() }
  }

  /// Fills an empty remote with records of its own.
  func beginAnew() {
    forget()
    for _ in 0..<choices.number(in: 1...8) { edit()?.commit() }
  }

  private func forget() {
    malformed.withLock { $0 = [] }
    lasting.withLock { $0 = [] }
    stuck.withLock { $0 = [] }
    ruled.withLock { $0 = [] }
  }

  private func delete(_ id: RecordID) -> (commit: @Sendable () -> Void, delay: Duration)? {
    guard let delay = lateness else {
      trace.tell("remote", as: .write, "\(id) is deleted", facts: .remote(id, .nothing))
      remote.delete(id.type, id.key)
      heal(id)
      if let other = partner(of: id) {
        trace.tell(
          "remote", as: .write, "\(other), which refers to it, is deleted as well",
          facts: .remote(other, .nothing))
        remote.delete(other.type, other.key)
        heal(other)
        return nil
      }
      // A record that returns at once leaves an older deletion behind.
      return choices.once(in: 3) ? write(id) : nil
    }
    late.withLock { $0 += 1 }
    let (remote, change) = (remote, remote.prepareDelete(id.type, id.key))
    return ({ [self] in commit(change, of: id, .nothing, "deleted", at: remote) }, delay)
  }

  private func write(_ id: RecordID) -> (commit: @Sendable () -> Void, delay: Duration)? {
    let payload = payload(of: id)
    guard let delay = lateness else {
      trace.tell("remote", as: .write, "\(id) is written: \(payload)", facts: .remote(id, .copy(payload)))
      remote.upsert(id.type, id.key, payload)
      heal(id)
      return nil
    }
    late.withLock { $0 += 1 }
    let (remote, change) = (remote, remote.prepareUpsert(id.type, id.key, payload))
    return ({ [self] in commit(change, of: id, .copy(payload), "written: \(payload)", at: remote) }, delay)
  }

  private func commit(
    _ change: InMemoryRemote.StagedChange, of id: RecordID, _ state: WorldEvent.RemoteState, _ what: String,
    at remote: InMemoryRemote
  ) {
    trace.tell("remote", as: .write, "late, \(id) is \(what)", facts: .remote(id, state))
    ledger.saw(.committedLate)
    change.commit()
    late.withLock { $0 -= 1 }
    // The app may have changed to another remote meanwhile, whose records differ.
    if remote === self.remote { heal(id) }
  }

  private func heal(_ id: RecordID) {
    malformed.withLock { _ = $0.remove(id) }
    commits.withLock { $0.append((id.type, now)) }
  }

  /// The delay until a write becomes visible.
  private var lateness: Duration? {
    guard shape.hazards.contains(.lateCommits), choices.once(in: 4) else { return nil }
    return choices.duration(.milliseconds(10)...shape.longestLateness)
  }

  private func payload(of id: RecordID) -> String {
    if let records {
      let current =
        choices.once(in: 4) ? nil : remote.records(of: id.type).first { $0.key == id.key }?.payload
      let written = records.payload(
        of: id, over: current, WorldRandom(choices, keys: shape.keys, of: records))
      return written.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "{}"
    }
    let name = choices.number(in: 1...3)
    switch id.type.rawValue {
    case "leagues":
      let schema = shape.hazards.contains(.newerSchemas) && choices.once(in: 6) ? 2 : 1
      return
        #"{"id":"\#(id.key)","name":\#(name),"parent":\#(parent(of: id)),"schema":\#(schema)\#(made(of: id))}"#
    case "teams":
      let others = #""name":\#(name),"league":\#(reference("l")),"last":\#(reference("g"))"#
      return #"{"id":"\#(id.key)",\#(others),"code":\#(code),"stamp":\#(stamp(of: id))\#(badge(of: id))}"#
    default:
      let others = #""home":\#(reference("t")),"away":\#(reference("t"))"#
      return #"{"id":"\#(id.key)","name":\#(name),\#(others)\#(slot)\#(date)}"#
    }
  }

  /// A member of the remote's copy as it is; empty without one.
  private func member(_ field: FieldName, of id: RecordID) -> String {
    guard let payload = remote.records(of: id.type).first(where: { $0.key == id.key })?.payload,
      let value = (try? FieldMap(payload))?[field]
    else { return "" }
    return ",\"\(field)\":\(String(decoding: value, as: UTF8.self))"
  }

  /// The immutable member of a league as it is; empty without one.
  private func kept(of id: RecordID) -> String { shape.immutableField.map { member($0, of: id) } ?? "" }

  /// The immutable member of a league: as it is, missing, or of another value.
  private func made(of id: RecordID) -> String {
    guard let field = shape.immutableField else { return "" }
    let value = choices.pick("", "null", "1", "2", "3")
    if choices.below(2) == 0 { return kept(of: id) }
    return value.isEmpty ? "" : ",\"\(field)\":\(value)"
  }

  /// A badge that no other team has, or none. A team keeps its badge, or gives it up.
  private func badge(of id: RecordID) -> String {
    guard shape.hazards.contains(.uniqueValues) else { return "" }
    let own = member(Badge.field, of: id)
    let number = choices.number(in: 1...4)
    if number == 4 || !own.isEmpty && !choices.once(in: 2) { return own }
    let isTaken = remote.records(of: id.type).contains { key, payload in
      Badge(of: RecordID(type: id.type, key: key), in: payload)?.json == "\(number)"
    }
    return isTaken ? "" : ",\"badge\":\(number)"
  }

  /// A code, which may make a team a duplicate.
  private var code: String {
    guard shape.hazards.contains(.duplicates) else { return "null" }
    let number = choices.below(6)
    return number == 0 ? "null" : "\(number)"
  }

  /// A slot, which may make a game a duplicate.
  private var slot: String {
    shape.hazards.contains(.keysOfTwoTypes) ? ",\"slot\":\(choices.pick("null", "1", "2", "3", "4"))" : ""
  }

  /// The date of a game, or none.
  private var date: String {
    guard shape.hazards.contains(.cleanUps) else { return "" }
    return choices.pick("", #","date":"2025-10-01""#, #","date":"2026-01-01""#, #","date":"""#)
  }

  /// Sometimes a league that refers to another one, if circles are possible.
  private func partner(of id: RecordID) -> RecordID? {
    guard shape.hazards.contains(.circles), id.type == "leagues", choices.once(in: 2) else { return nil }
    let other = remote.records(of: id.type).first { key, payload in
      key != id.key && (try? payload.values(of: ["parent"]).first) == .string(id.key)
    }
    return other.map { RecordID(type: id.type, key: $0.key) }
  }

  /// The parent of a league: an earlier one, unless circles are possible.
  private func parent(of id: RecordID) -> String {
    if let other = partner(of: id) { return "\"\(other.key)\"" }
    if shape.hazards.contains(.circles) { return reference("l") }
    let number = choices.below(shape.keys + 2)
    if number == 0 { return "null" }
    let own = Int(id.key.dropFirst()) ?? 1
    return choices.once(in: 12) ? "\"l99\"" : own > 1 ? "\"l\(1 + number % (own - 1))\"" : "null"
  }

  /// The declared time of another replica's write.
  ///
  /// It is a time of its own, or the exact stamp of an edit that is pending here.
  private func stamp(of id: RecordID) -> String {
    guard shape.hasEdits else { return "null" }
    let pending = watch.lastView.outbox[id]?.edit.stamp
    switch choices.below(8) {
    case 1, 2:
      let replica = choices.pick("phone", "zebra", "!")
      return "\"\(EditStamp(physical: clock.timestamp, counter: 0, replica: replica))\""
    case 3, 4:
      guard var stamp = pending else { return "null" }
      stamp.replica = choices.pick("~", "!")
      return "\"\(stamp)\""
    case 5...7:
      // A replica whose name was copied with its data.
      return pending.map { "\"\($0)\"" } ?? "null"
    default: return "null"
    }
  }

  /// A reference to a record that exists, may exist, or, rarely, never will.
  private func reference(_ prefix: String) -> String {
    let number = choices.below(shape.keys + 2)
    if number == 0 { return "null" }
    return "\"\(prefix)\(choices.once(in: 12) ? 99 : min(number, shape.keys))\""
  }
}
