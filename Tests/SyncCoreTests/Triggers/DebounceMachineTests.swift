import SyncPorts
import Testing

@testable import SyncCore

@Suite("The debounce of connectivity")
struct DebounceMachineTests {
  private func machine(_ seen: (Connectivity, Double)...) -> DebounceMachine {
    var machine = DebounceMachine()
    for (connectivity, second) in seen { machine.observed(connectivity, at: .seconds(second)) }
    return machine
  }

  @Test func waitsForNothingWhenNothingWasLost() {
    #expect(machine().due == nil)
    #expect(machine((.online, 1)).due == nil)
    #expect(machine((.unknown, 1), (.online, 2), (.online, 3), (.unknown, 4)).due == nil)
  }

  @Test func waitsFromTheLastReturnOn() {
    #expect(machine((.offline, 1), (.online, 2)).due == .seconds(4.5))
    #expect(machine((.offline, 1), (.online, 2), (.offline, 3), (.online, 4)).due == .seconds(6.5))
  }

  @Test func isNotPutOffByNewsThatAreNone() {
    #expect(machine((.offline, 1), (.online, 2), (.online, 3), (.unknown, 4)).due == .seconds(4.5))
  }

  @Test func forgetsTheReturnWithTheNextLoss() {
    #expect(machine((.offline, 1), (.online, 2), (.offline, 3)).due == nil)
  }

  @Test func countsAReturnOnceAndFromItsVeryMoment() {
    var machine = machine((.offline, 1), (.online, 2))
    let answers = [4.499, 4.5, 4.5, 10].map { machine.isRegained(at: .seconds($0)) }
    #expect(answers == [false, true, false, false])
    machine.observed(.online, at: .seconds(9))
    #expect(machine.due == nil)
    machine.observed(.offline, at: .seconds(10))
    machine.observed(.online, at: .seconds(11))
    #expect(machine.due == .seconds(13.5))
  }
}
