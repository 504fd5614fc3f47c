import InMemoryAdapters
import SyncModels
import SyncPorts

/// The remote's source for one process of a world.
///
/// Requests fail, stall and kill the process, pages are unusual, and all sent changes are stored.
final class SimulatedSource: ForwardingSource {
  let base: any RemoteRecordSource
  private let remote: InMemoryRemote
  private let incarnation: Incarnation

  init(_ base: any RemoteRecordSource, remote: InMemoryRemote, of incarnation: Incarnation) {
    self.base = base
    self.remote = remote
    self.incarnation = incarnation
  }

  func account() async throws(SyncError) -> RemoteAccount? {
    guard incarnation.world.shape.hazards.contains(.exchangedAccounts), incarnation.namedAccount == nil else {
      return try await base.account()
    }
    return try await incarnation.around(.account) { () async throws(SyncError) in
      .named(incarnation.world.remotes.home.account)
    }
  }

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    let (world, type) = (incarnation.world, request.entity.type)
    let now = incarnation.clock.now.offset
    if incarnation.book.isPaused(type) { world.ledger.saw(.requestedPauseKept) }
    // A process that lost its lease does not know the new holder's changes.
    let isOvertaken = incarnation.book.fence < world.watch.leases.latest
    let isListingOwed = world.watch.owesListing(of: type)
    // The engine decides the effects of a changed declaration.
    let wereDeclarationsChanged =
      world.shape.hazards.contains(.changingDeclarations) && world.ledger.sights[.declarationsChanged] != nil
    if isListingOwed { world.ledger.saw(.listingOwed) }
    let complaints = incarnation.book.request(
      request, at: now,
      checkpoint: isOvertaken || isListingOwed || wereDeclarationsChanged
        ? nil : world.watch.checkpoint(of: type),
      known: incarnation.known)
    for (promise, words) in complaints { world.ledger.report(promise, "\(incarnation) \(words)", of: type) }
    if case .resume = request.position, incarnation.book.isFirstRequest(of: type) {
      world.ledger.saw(.passResumed)
    }
    do throws(SyncError) {
      let page = try await incarnation.around(.page) { () async throws(SyncError) -> RecordPage in
        if let page = oddPage(for: request) { return page }
        let (start, isLagging) = (world.edits.now, lag(behind: request))
        let page = leaveOut(of: try await base.page(request), request)
        // A stopped process gets no answer from its remote either. After such a stop, a replica may
        // not lag behind the state before it. The same holds after a jump of the server's clock.
        guard !isLagging || world.edits.now < start + .seconds(3) else {
          throw SyncError(.remoteUnavailable, during: "a page", "The connection did not last.")
        }
        return page
      }
      served(page, to: request)
      return page
    } catch {
      incarnation.book.failed(type, error, at: incarnation.clock.now.offset)
      throw error
    }
  }

  func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    let world = incarnation.world
    do throws(SyncError) {
      return try await incarnation.around(.lookup) { () async throws(SyncError) -> [RecordChange] in
        if world.shape.refusesLookups(of: entity.type) {
          world.ledger.saw(.lookupRefused)
          throw SyncError(
            .permissionDenied, during: "a lookup", "The remote refuses lookups of \(entity.type).")
        }
        let changes = try await base.lookup(ids, of: entity)
        world.watch.heard(changes)
        incarnation.trace(
          as: .page, "looks up \(Counted(ids.count, "record")) of \(entity.type)",
          facts: .answers(
            ids.map { id in changes.first { $0.id == id }.map(WorldEvent.Delivery.init) ?? .init(id, .nothing)
            }, isPush: false))
        return changes
      }
    } catch {
      if error.code != .permissionDenied { incarnation.book.lookupFailed(entity.type) }
      throw error
    }
  }

  private func served(_ page: RecordPage, to request: PageRequest) {
    let (world, type) = (incarnation.world, request.entity.type)
    incarnation.trace(
      as: .page, "gets \(page.changes.count) of \(type), \(Self.words(page.next))",
      facts: .page(WorldEvent.ServedPage(page, to: request)))
    if case .reset = page.next { world.ledger.saw(.passReset) }
    if !page.present.isEmpty { world.ledger.saw(.keysListed) }
    incarnation.book.served(page, to: request)
  }

  private static func words(_ next: RecordPage.Continuation) -> String {
    switch next {
    case .more: "more follow"
    case .done: "the last"
    case .reset(let reason): "start over: \(reason.rawValue)"
    }
  }

  /// Removes a moved record from the listing of a moving collection.
  ///
  /// It never removes the same record twice.
  private func leaveOut(of page: RecordPage, _ request: PageRequest) -> RecordPage {
    let world = incarnation.world
    guard !world.isCalm, world.shape.hazards.contains(.oddPages), page.coverage == .full,
      capabilities.listing == .moving, world.choices.once(in: 4)
    else { return page }
    let live = world.watch.lastView.live
    let place = page.changes.firstIndex { change in
      guard case .upsert(let record) = change, let known = live[record.id] else { return false }
      return known.payload == record.payload && !world.edits.wasLeftOut(record.id)
    }
    var page = page
    let left: RecordID?
    if let place {
      left = page.changes.remove(at: place).id
    } else {
      let place = page.present.firstIndex { live[$0.id] != nil && !world.edits.wasLeftOut($0.id) }
      left = place.map { page.present.remove(at: $0).id }
    }
    guard let left else { return page }
    incarnation.trace(as: .fault, "\(left) is not in the listing, as it moves")
    world.ledger.saw(.leftOut)
    world.edits.leaveOut(left)
    return page
  }

  /// Scripts an unusual answer, or returns it.
  private func oddPage(for request: PageRequest) -> RecordPage? {
    let (world, type) = (incarnation.world, request.entity.type)
    guard !world.isCalm else { return nil }
    let choices = world.choices
    if world.shape.hazards.contains(.oddPages) {
      switch choices.below(12) {
      case 9:
        remote.behave(.shortPage(1), onNext: 1, of: type)
      case 10:
        world.ledger.saw(.pageEmptied)
        remote.behave(.emptyPage, onNext: 1, of: type)
      case 11:
        // A proxy may repeat a page. It does not return a page of another position.
        if let page = incarnation.book.lastPage(of: type), case .more(let token, _) = page.next,
          request.position == .resume(token)
        {
          world.ledger.saw(.pageRepeated)
          return page
        }
      default: break
      }
    }
    return nil
  }

  /// Makes a replica answer with a lag that this kind of remote allows.
  ///
  /// Returns false if none does.
  private func lag(behind request: PageRequest) -> Bool {
    let (world, type) = (incarnation.world, request.entity.type)
    // A listing cannot tolerate a replica that lags behind the listing's start.
    guard !world.isCalm, world.shape.hazards.contains(.staleReplica) else { return false }
    var isListing = false
    if case .start(let token) = request.position {
      isListing = token == nil
    } else if !capabilities.sweepsByItself {
      // An index lags at each page, and a listing of its keys tolerates that.
      return false
    }
    guard world.choices.once(in: isListing ? 2 : 4) else { return false }
    // A log position tolerates any lag. A time tolerates only a lag shorter than the overlap of
    // deltas.
    var most = 8
    if case .changeTokens = capabilities.deltas {} else { most = world.edits.recent(type) }
    guard most > 0 else { return false }
    world.ledger.saw(.replicaLagged)
    remote.behave(.laggingReplica(changes: world.choices.number(in: 1...most)), onNext: 1, of: type)
    return true
  }
}
