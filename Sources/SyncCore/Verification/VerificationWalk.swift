import SyncModels
import SyncPorts

/// Runs the checks of a verification over portions, each in a snapshot of its own.
struct VerificationWalk {
  let store: any LocalStore
  let stop: StopSignal
  let limit: Int
  var report = VerificationReport()

  /// A portion that was checked.
  struct Portion<Place: Sendable>: Sendable {
    /// The place after which the next portion begins; `nil` after the last one.
    var next: Place?
    var findings: [StoreFinding] = []
    /// The number of entries.
    var count: Int
    /// The number of live records, and of those without a mark.
    var live = 0
    var unmarked = 0
  }

  /// Checks one list, portion by portion.
  ///
  /// - Returns: Whether the whole list could be read.
  @discardableResult mutating func portions<Place: Sendable>(
    _ part: StoreFinding.Part, _ type: RecordType?,
    _ check: @Sendable (any StoreSnapshot, Place?) throws(SyncError) -> Portion<Place>,
    counting: (Portion<Place>) -> Void = { _ in }
  ) async throws(SyncError) -> Bool {
    var place: Place?
    while true {
      try demandGoOn()
      let portion: Portion<Place>
      do throws(SyncError) {
        let start = place
        portion = try await store.read { (snapshot) throws(SyncError) in try check(snapshot, start) }
      } catch {
        try note(error, part, type)
        return false
      }
      report.add(portion.findings, limit: limit)
      report.checked[part, default: 0] += portion.count
      counting(portion)
      guard let next = portion.next else { return true }
      place = next
    }
  }

  /// Checks in one snapshot, and uses the value that was read with it.
  mutating func step<Value: Sendable>(
    _ part: StoreFinding.Part, _ type: RecordType?,
    _ check: @Sendable (any StoreSnapshot) throws(SyncError) -> (Value, [StoreFinding]),
    then use: (Value) -> Void
  ) async throws(SyncError) {
    try demandGoOn()
    do throws(SyncError) {
      let (value, findings) = try await store.read { (snapshot) throws(SyncError) in try check(snapshot) }
      report.add(findings, limit: limit)
      use(value)
    } catch {
      try note(error, part, type)
    }
  }

  /// Ends the verification after a stop.
  func demandGoOn() throws(SyncError) {
    guard stop.isRaised else { return }
    throw SyncError(.cancelled, during: "verifying the store", "The verification was stopped.")
  }

  /// Notes that a part cannot be read. Other failures say nothing about the store.
  private mutating func note(
    _ error: SyncError, _ part: StoreFinding.Part, _ type: RecordType?
  ) throws(SyncError) {
    guard error.isOfDamage else { throw error }
    report.add([StoreFinding(part, type: type, "cannot be read further: \(error.message)")], limit: limit)
  }
}

extension SyncError {
  /// Whether a read failed because of the store's contents.
  var isOfDamage: Bool {
    isOfDamagedStore || code == .inconsistentData || code == .invalidConfiguration
  }
}
