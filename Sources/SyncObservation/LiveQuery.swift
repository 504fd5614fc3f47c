public import Observation
public import SyncCore
public import SyncModels

/// A query whose latest result a view shows.
///
/// ```swift
/// struct GamesView: View {
///   @State var games: LiveQuery<Game>  // LiveQuery(engine.records.observe(Game.self, where: …))
///
///   var body: some View {
///     List(games.records) { Text($0.name) }.task { await games.follow() }
///   }
/// }
/// ```
///
/// A view that reads a member is drawn again when it changes. The query follows the store only
/// during ``follow()``, whose task SwiftUI cancels when the view disappears.
@MainActor @Observable public final class LiveQuery<Value: SyncedRecord> {
  /// The records of the latest result, in the query's order; empty before the first.
  public private(set) var records: [Stored<Value>] = []
  /// The records of the latest result that do not decode.
  public private(set) var leftOut: [Undecodable] = []
  /// Whether there has been a result.
  public private(set) var isLoaded = false
  /// The error that ended ``follow()``; `nil` while it goes on. The records stay as they were.
  public private(set) var error: SyncError?

  private let updates: RecordUpdates<Value>

  /// Creates a query that follows nothing yet.
  ///
  /// - Parameter updates: A query, as ``LocalRecords/observe(_:where:order:limit:)`` returns it.
  public init(_ updates: RecordUpdates<Value>) {
    self.updates = updates
  }

  /// Takes over each result, until the task is cancelled or a read fails.
  ///
  /// Another call goes on from the state of the store by then.
  public func follow() async {
    error = nil
    var results = updates.makeAsyncIterator()
    do throws(SyncError) {
      while let result = try await results.next() {
        records = Array(result)
        leftOut = result.leftOut
        isLoaded = true
      }
    } catch {
      self.error = error
    }
  }
}
