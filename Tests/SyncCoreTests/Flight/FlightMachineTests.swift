import SyncModels
import Testing

@testable import SyncCore

/// Requests by name, for tables.
enum Asked: String, CaseIterable, Sendable {
  case all, pull, push, teams, teamsPull, games, complete, completeTeams, massDeletion, urgent

  var request: SyncRequest {
    switch self {
    case .all: SyncRequest()
    case .pull: SyncRequest(direction: .pull)
    case .push: SyncRequest(direction: .push)
    case .teams: SyncRequest(types: ["teams"])
    case .teamsPull: SyncRequest(types: ["teams"], direction: .pull)
    case .games: SyncRequest(types: ["games"])
    case .complete: SyncRequest(fullPull: ["teams", "games"])
    case .completeTeams: SyncRequest(fullPull: ["teams"])
    case .massDeletion: SyncRequest(allowsMassDeletion: true)
    case .urgent: SyncRequest(priority: ["games"])
    }
  }

  func scope(canPush: Bool = true) throws -> SyncScope {
    try SyncScope(request, of: SyncSchema(World.teams, World.games), canPush: canPush)
  }
}

@Suite("What a sync does")
struct SyncScopeTests {
  @Test(arguments: [
    (Asked.all, [Asked.all, .pull, .push, .teams, .teamsPull, .games, .urgent]),
    (.pull, [.pull, .teamsPull]), (.push, [.push]), (.teams, [.teams, .teamsPull]),
    (.teamsPull, [.teamsPull]), (.games, [.games]),
    (.complete, [.all, .pull, .push, .teams, .teamsPull, .games, .complete, .completeTeams, .urgent]),
    (.completeTeams, [.all, .pull, .push, .teams, .teamsPull, .games, .completeTeams, .urgent]),
    (.massDeletion, [.all, .pull, .push, .teams, .teamsPull, .games, .massDeletion, .urgent]),
    (.urgent, [.all, .pull, .push, .teams, .teamsPull, .games, .urgent]),
  ])
  func coversWhatAsksForNoMore(_ asked: Asked, _ covered: [Asked]) throws {
    let scope = try asked.scope()
    #expect(try Asked.allCases.filter { scope.covers(try $0.scope()) } == covered)
  }

  @Test(arguments: Asked.allCases, Asked.allCases)
  func coversWhatIsCoveredByWhatItCovers(_ a: Asked, _ b: Asked) throws {
    let (a, b) = (try a.scope(), try b.scope())
    #expect(a.covers(a))
    guard a.covers(b) else { return }
    for c in Asked.allCases where b.covers(try c.scope()) { #expect(a.covers(try c.scope())) }
  }

  @Test func isAPullWhereThereIsNowhereToPush() throws {
    #expect(try Asked.pull.scope(canPush: false).covers(try Asked.all.scope(canPush: false)))
    #expect(throws: (any Error).self) { try Asked.push.scope(canPush: false) }
  }

  @Test func servesThoseAloneWhoAskedUnderNoLaterFilters() throws {
    var (former, later) = (try Asked.teams.scope(), try Asked.teams.scope())
    (former.filters, later.filters) = (1, 2)
    #expect(later.covers(former) && !former.covers(later))
    later.pulls = false
    #expect(former.covers(later))
  }

  @Test func isOfDeclaredTypes() throws {
    let schema = try SyncSchema(World.teams)
    for request in [
      SyncRequest(types: ["nobody"]), SyncRequest(fullPull: ["nobody"]), SyncRequest(priority: ["nobody"]),
    ] {
      #expect(throws: SyncError.self) { () throws in _ = try SyncScope(request, of: schema, canPush: true) }
    }
  }
}

// R1.12
@Suite("Of several that want to sync,")
struct FlightMachineTests {
  private func flight(_ first: Asked = .all) throws -> FlightMachine {
    var machine = FlightMachine()
    #expect(machine.arrive(try first.scope(), ifBusy: .refuse) == .lead)
    return machine
  }

  private func landing(_ machine: inout FlightMachine, wasStopped: Bool = false) -> [String] {
    machine.landed(wasStopped: wasStopped).map { id, turn in
      switch turn {
      case .share: "\(id) shares"
      case .lead(let first): "\(id) leads" + (first.isEmpty ? "" : " with \(first[0]) first")
      }
    }
  }

  @Test func theSecondIsRefusedWhereItDoesNotWait() throws {
    var machine = try flight()
    #expect(machine.arrive(try Asked.all.scope(), ifBusy: .refuse) == .refused)
    #expect(landing(&machine).isEmpty)
    #expect(machine.arrive(try Asked.all.scope(), ifBusy: .refuse) == .lead)
  }

  @Test func thoseThatAreCoveredShareAndTheOthersGoOn() throws {
    var machine = try flight(.teams)
    #expect(machine.arrive(try Asked.teamsPull.scope(), ifBusy: .join) == .wait(1, sharesThisOne: true))
    #expect(machine.arrive(try Asked.games.scope(), ifBusy: .join) == .wait(2, sharesThisOne: false))
    #expect(machine.arrive(try Asked.teams.scope(), ifBusy: .follow) == .wait(3, sharesThisOne: false))
    #expect(landing(&machine) == ["1 shares", "2 leads"])
    #expect(landing(&machine) == ["3 leads"])
    #expect(landing(&machine).isEmpty)
  }

  @Test func theOneThatCoversMostLeadsNext() throws {
    var machine = try flight(.push)
    for asked in [Asked.teams, .pull, .all, .games] {
      _ = machine.arrive(try asked.scope(), ifBusy: .join)
    }
    #expect(landing(&machine) == ["3 leads"])
    #expect(landing(&machine) == ["1 shares", "2 shares", "4 shares"])
  }

  @Test func aFollowerSharesWhatBeginsAfterIt() throws {
    var machine = try flight()
    _ = machine.arrive(try Asked.all.scope(), ifBusy: .follow)
    _ = machine.arrive(try Asked.urgent.scope(), ifBusy: .follow)
    #expect(landing(&machine) == ["1 leads with games first"])
    // This one is too late for the second sync as well.
    _ = machine.arrive(try Asked.all.scope(), ifBusy: .follow)
    #expect(landing(&machine) == ["2 shares", "3 leads"])
  }

  @Test func anotherGoesOnInPlaceOfOneThatWasStopped() throws {
    var machine = try flight()
    for _ in 1...3 { _ = machine.arrive(try Asked.all.scope(), ifBusy: .join) }
    machine.leave(1)
    #expect(landing(&machine, wasStopped: true) == ["2 leads"])
    #expect(landing(&machine) == ["3 shares"])
  }
}
