import SyncCore
import SyncModels
import Synchronization

/// The number that every writer of a world adds to, and what they have added.
///
/// No other edit changes its record.
final class Sums: Sendable {
  static let id = RecordID(type: "leagues", key: "l98")
  private static let field: FieldName = "count"
  private let added = Mutex(0)

  /// The record before anybody has added to it.
  static var beginning: String { #"{"id":"\#(id.key)","name":0,"parent":null,"schema":1,"count":10}"# }

  /// What the number has to be at the end.
  var total: Int64 { Int64(10 + added.withLock { $0 }) }

  /// Notes that another client has added one.
  func add() { added.withLock { $0 += 1 } }

  /// Notes what a transaction of the app has added.
  func note(_ before: Record?, _ after: Record?) {
    guard let old = before.flatMap({ Self.number(in: $0.payload) }),
      let new = after.flatMap({ Self.number(in: $0.payload) })
    else { return }
    added.withLock { $0 += Int(new - old) }
  }

  /// The number in a record.
  static func number(in payload: Payload) -> Int64? {
    guard case .integer(let number)? = try? payload.values(of: [field]).first else { return nil }
    return number
  }

  /// The record with one more; `nil` without a number.
  static func adding(to payload: Payload) -> Payload? {
    guard let number = number(in: payload) else { return nil }
    return setting(number + 1, in: payload)
  }

  static func setting(_ number: Int64, in payload: Payload) -> Payload? {
    guard var fields = try? FieldMap(payload) else { return nil }
    fields[field] = Array("\(number)".utf8)[...]
    return fields.payload
  }
}

/// A policy that adds up what both sides have added to the number.
struct SummingPolicy: MergePolicy {
  var base: any MergePolicy
  var ledger: Ledger

  func settle(_ conflict: MergeConflict) -> MergeResolution {
    guard let before = conflict.base.flatMap(Sums.number),
      let ours = conflict.local.content.flatMap(Sums.number),
      let theirs = conflict.remote.content.flatMap(Sums.number),
      let later = conflict.local.merged(with: conflict.remote).content,
      let sum = Sums.setting(ours + theirs - before, in: later)
    else { return base.settle(conflict) }
    ledger.saw(.summed)
    return .merged(sum, reason: "both have added to it")
  }
}
