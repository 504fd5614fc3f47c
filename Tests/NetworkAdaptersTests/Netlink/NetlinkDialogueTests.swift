import SyncPorts
import Testing

@testable import NetworkAdapters

@Suite("The dialogue with the kernel")
struct NetlinkDialogueTests {
  typealias Bytes = KernelBytes

  static func dialogue(needsDefaultRoute: Bool = true) -> NetlinkDialogue {
    NetlinkDialogue(
      table: NetworkTable(needsDefaultRoute: needsDefaultRoute) { link in
        InterfaceKind.kind(of: link, deviceType: nil)
      })
  }

  /// A reply to the list with this number. By default it also ends the list.
  static func reply(
    _ sequence: UInt32, _ messages: [(UInt16, [UInt8])], flags: UInt16 = 0, ends: Bool = true
  ) -> [UInt8] {
    messages.flatMap { Bytes.message($0.0, flags: 2 | flags, sequence: sequence, $0.1) }
      + (ends ? Bytes.message(3, flags: 2, sequence: sequence, [0, 0, 0, 0]) : [])
  }

  static let links = [(UInt16(16), Bytes.link(1, "lo", loopback: true)), (16, Bytes.link(2))]
  static let addresses = [
    (UInt16(20), Bytes.address(1, [127, 0, 0, 1], scope: 254)), (20, Bytes.address(2)),
  ]
  static let routes = [(UInt16(24), Bytes.route())]

  /// A dialogue that has listed a link with an address and a route.
  ///
  /// Also returns the number of its last list.
  static func online() -> NetlinkDialogue {
    var dialogue = dialogue()
    _ = dialogue.begin()
    _ = dialogue.receive(reply(1, links))
    _ = dialogue.receive(reply(2, addresses))
    _ = dialogue.receive(reply(3, routes))
    return dialogue
  }

  static let wired = NetworkStatus(.online, interface: .wired)

  @Test func listsEverythingBeforeItSaysAnything() {
    var dialogue = Self.dialogue()
    #expect(dialogue.begin() == [.ask(.links, sequence: 1)])
    #expect(dialogue.receive(Self.reply(1, [Self.links[0]], ends: false)) == [])
    #expect(dialogue.receive(Self.reply(1, [Self.links[1]])) == [.ask(.addresses, sequence: 2)])
    #expect(dialogue.receive(Self.reply(2, Self.addresses)) == [.ask(.routes, sequence: 3)])
    #expect(dialogue.receive(Self.reply(3, Self.routes)) == [.report(Self.wired)])
  }

  @Test(
    arguments: [
      ("a link that goes down", Bytes.message(16, Bytes.link(2, up: false, running: false))),
      ("a cable that is unplugged", Bytes.message(16, Bytes.link(2, running: false))),
      ("a link that is removed", Bytes.message(17, Bytes.link(2))),
      ("an address that is removed", Bytes.message(21, Bytes.address(2))),
      ("a duplicate address", Bytes.message(20, Bytes.address(2, flags: 0x08))),
    ])
  func reportsTheLossOf(_ what: String, _ message: [UInt8]) {
    var dialogue = Self.online()
    #expect(dialogue.receive(message).contains(.report(NetworkStatus(.offline))))
    #expect(dialogue.receive(message).contains(.report(NetworkStatus(.offline))) == false)
  }

  @Test(arguments: [24, 25] as [UInt16])
  func listsTheRoutesAnewWhenADefaultRouteChanges(_ type: UInt16) {
    var dialogue = Self.online()
    #expect(dialogue.receive(Bytes.message(type, Bytes.route())) == [.ask(.routes, sequence: 4)])
    // The old entries count until the new ones are known.
    #expect(dialogue.receive(Self.reply(4, [])) == [.report(NetworkStatus(.offline))])
  }

  @Test func doesNotBelieveInRoutesOfALinkThatWasDown() {
    var dialogue = Self.online()
    #expect(
      dialogue.receive(Bytes.message(16, Bytes.link(2, up: false)))
        == [.ask(.routes, sequence: 4), .report(NetworkStatus(.offline))])
    // The kernel does not report that the route is gone.
    #expect(dialogue.receive(Bytes.message(16, Bytes.link(2))) == [])
    #expect(dialogue.receive(Self.reply(4, [])) == [])
    #expect(dialogue.receive(Bytes.message(24, Bytes.route())) == [.ask(.routes, sequence: 5)])
    #expect(dialogue.receive(Self.reply(5, Self.routes)) == [.report(Self.wired)])
  }

  @Test func comesBackWithTheCableAlone() {
    var dialogue = Self.online()
    #expect(
      dialogue.receive(Bytes.message(16, Bytes.link(2, running: false))) == [
        .report(NetworkStatus(.offline))
      ])
    #expect(dialogue.receive(Bytes.message(16, Bytes.link(2))) == [.report(Self.wired)])
  }

  @Test func listsAgainWhatChangedWhileItWasListed() {
    var dialogue = Self.online()
    #expect(dialogue.receive(Bytes.message(24, Bytes.route())) == [.ask(.routes, sequence: 4)])
    #expect(dialogue.receive(Bytes.message(25, Bytes.route())) == [])
    #expect(dialogue.receive(Self.reply(4, Self.routes)) == [.ask(.routes, sequence: 5)])
    #expect(dialogue.receive(Self.reply(5, [])) == [.report(NetworkStatus(.offline))])
  }

  @Test func listsAgainWhatTheKernelSaysWasInterrupted() {
    var dialogue = Self.dialogue()
    _ = dialogue.begin()
    #expect(dialogue.receive(Self.reply(1, Self.links, flags: 0x10)) == [.ask(.links, sequence: 2)])
  }

  @Test func listsEverythingAnewAfterALossAndForgetsWhatIsGone() {
    var dialogue = Self.online()
    #expect(dialogue.lost() == [.ask(.links, sequence: 4)])
    #expect(dialogue.receive(Self.reply(4, [Self.links[0]])).first == .ask(.addresses, sequence: 5))
    #expect(dialogue.receive(Self.reply(5, [])) == [.ask(.routes, sequence: 6)])
    #expect(dialogue.receive(Self.reply(6, [])) == [])
    #expect(dialogue.receive(Bytes.message(16, Bytes.link(2))) == [])
  }

  @Test func keepsItsWordWhenNothingHadChangedAfterALoss() {
    var dialogue = Self.online()
    _ = dialogue.lost()
    // A second loss, in the middle of the list.
    #expect(dialogue.lost() == [])
    #expect(dialogue.receive(Self.reply(4, Self.links)) == [.ask(.links, sequence: 5)])
    #expect(dialogue.receive(Self.reply(5, Self.links)) == [.ask(.addresses, sequence: 6)])
    #expect(dialogue.receive(Self.reply(6, Self.addresses)) == [.ask(.routes, sequence: 7)])
    #expect(dialogue.receive(Self.reply(7, Self.routes)) == [])
  }

  @Test func treatsADamagedDatagramAsALoss() {
    var dialogue = Self.online()
    #expect(dialogue.receive([1, 2, 3]) == [.ask(.links, sequence: 4)])
  }

  @Test func isNotMisledByTheNumbersOfOtherPrograms() {
    var dialogue = Self.online()
    _ = dialogue.receive(Bytes.message(25, Bytes.route()))
    // Another program's message has, by chance, the number of the current list.
    #expect(dialogue.receive(Bytes.message(24, sequence: 4, Bytes.route())) == [])
    #expect(dialogue.receive(Self.reply(4, [])) == [.ask(.routes, sequence: 5)])
    #expect(dialogue.receive(Bytes.message(3, sequence: 99)) == [])
  }

  @Test func knowsNothingWhereTheKernelRefuses() {
    var dialogue = Self.dialogue()
    _ = dialogue.begin()
    let refusal = Bytes.message(2, sequence: 1, Bytes.of(Int32(-95)) + [UInt8](repeating: 0, count: 16))
    #expect(dialogue.receive(refusal) == [.report(NetworkStatus(.unknown))])
    #expect(dialogue.hasFailed)
  }

  @Test func isContentWithAnAddressWhereNoRouteIsNeeded() {
    var dialogue = Self.dialogue(needsDefaultRoute: false)
    _ = dialogue.begin()
    _ = dialogue.receive(Self.reply(1, Self.links))
    _ = dialogue.receive(Self.reply(2, Self.addresses))
    #expect(dialogue.receive(Self.reply(3, [])) == [.report(Self.wired)])
    #expect(
      dialogue.receive(Bytes.message(21, Bytes.address(2))).contains(.report(NetworkStatus(.offline))))
  }

  @Test func namesTheKindOfTheLinkThatIsTaken() {
    var dialogue = Self.dialogue()
    _ = dialogue.begin()
    _ = dialogue.receive(Self.reply(1, Self.links + [(16, Bytes.link(3, "wlan0"))]))
    _ = dialogue.receive(Self.reply(2, Self.addresses + [(20, Bytes.address(3, [10, 1, 0, 2]))]))
    let both = [
      (UInt16(24), Bytes.route(metric: 600)), (24, Bytes.route(over: [3], metric: 100)),
    ]
    #expect(dialogue.receive(Self.reply(3, both)) == [.report(NetworkStatus(.online, interface: .wifi))])
    #expect(
      dialogue.receive(Bytes.message(16, Bytes.link(3, "wlan0", running: false))) == [.report(Self.wired)])
  }

  @Test func doesNotTakeOneFamilysRouteForTheOthers() {
    var dialogue = Self.dialogue()
    _ = dialogue.begin()
    _ = dialogue.receive(Self.reply(1, Self.links))
    _ = dialogue.receive(Self.reply(2, Self.addresses))
    #expect(
      dialogue.receive(Self.reply(3, [(24, Bytes.route(family: RouteNumbers.ipv6))])) == [
        .report(NetworkStatus(.offline))
      ])
  }

  @Test func asksInTheKernelsWords() {
    #expect(
      NetlinkDialogue.Subject.routes.request(sequence: 0x0102_0304)
        == KernelBytes.message(26, flags: 0x301, sequence: 0x0102_0304, [UInt8](repeating: 0, count: 12)))
    #expect(NetlinkDialogue.Subject.links.request(sequence: 1).count == 32)
    #expect(NetlinkDialogue.Subject.addresses.request(sequence: 1).count == 24)
  }
}
