import InMemoryAdapters
import Testing

@testable import NetworkAdapters

@Suite("A datagram from the kernel")
struct NetlinkMessageTests {
  static let samples: [[UInt8]] = [
    KernelBytes.message(16, KernelBytes.link(2)),
    KernelBytes.message(17, KernelBytes.link(2)),
    KernelBytes.message(20, KernelBytes.address(2, flags: 0x80)),
    KernelBytes.message(21, KernelBytes.address(2, Array(repeating: 7, count: 16))),
    KernelBytes.message(24, KernelBytes.route(over: [2, 3, 4], metric: 100)),
    KernelBytes.message(25, KernelBytes.route()),
    KernelBytes.message(3, flags: 2, sequence: 1, [0, 0, 0, 0]),
  ]

  private func facts(_ datagram: [UInt8]) -> [NetworkFact] {
    NetlinkMessage.read(datagram).messages.map { NetworkFact($0) }
  }

  @Test func isReadMessageByMessage() {
    let batch = NetlinkMessage.read(Self.samples.flatMap(\.self))
    #expect(batch.isIntact)
    #expect(batch.messages.map(\.type) == [16, 17, 20, 21, 24, 25, 3])
    #expect(batch.messages.last?.sequence == 1)
    #expect(batch.messages.last?.flags == 2)
  }

  @Test func saysWhatALinkIs() {
    #expect(
      facts(KernelBytes.message(16, KernelBytes.link(7, "wlp3s0", up: true, running: false))) == [
        .link(
          NetworkLink(
            index: 7, name: "wlp3s0", hardware: 1, isUp: true, isRunning: false, isLoopback: false))
      ])
    #expect(facts(KernelBytes.message(17, KernelBytes.link(7))) == [.linkRemoved(7)])
  }

  @Test func doesNotTakeALinkThatLeavesABridgeForOneThatIsGone() {
    #expect(facts(KernelBytes.message(17, KernelBytes.link(7, family: 7))) == [.other])
  }

  @Test(
    arguments: [
      (KernelBytes.address(2), true),
      (KernelBytes.address(2, [169, 254, 1, 1], scope: 253), false),
      (KernelBytes.address(2, [127, 0, 0, 1], scope: 254), false),
      (KernelBytes.address(2, Array(repeating: 1, count: 16), flags: 0x40), false),
      (KernelBytes.address(2, Array(repeating: 1, count: 16), flags: 0x44), true),
      (KernelBytes.address(2, Array(repeating: 1, count: 16), flags: 0x48), false),
      (KernelBytes.address(2, Array(repeating: 1, count: 16), flags: 0x20), true),
    ])
  func saysWhetherAnAddressCanBeUsed(_ body: [UInt8], _ usable: Bool) {
    guard case .address(let address, let isUsable) = facts(KernelBytes.message(20, body)).first else {
      Issue.record("no address")
      return
    }
    #expect(address.link == 2)
    #expect(isUsable == usable)
    #expect(facts(KernelBytes.message(21, body)) == [.addressRemoved(address)])
  }

  @Test(
    arguments: [
      (KernelBytes.route(), [2]), (KernelBytes.route(over: [3, 5]), [3, 5]),
      (KernelBytes.route(over: []), [nil]),
    ] as [([UInt8], [Int32?])])
  func saysWhereADefaultRouteLeads(_ body: [UInt8], _ links: [Int32?]) {
    #expect(
      facts(KernelBytes.message(24, body)) == [
        .defaultRoutes(links.map { DefaultRoute(family: .ipv4, link: $0, metric: 0) })
      ])
    #expect(facts(KernelBytes.message(25, body)) == [.defaultRouteRemoved])
  }

  @Test(arguments: [
    KernelBytes.route(length: 8), KernelBytes.route(type: 7), KernelBytes.route(family: 128),
  ])
  func passesOverRoutesThatLeadNotEverywhere(_ body: [UInt8]) {
    #expect(facts(KernelBytes.message(24, body)) == [.other])
  }

  @Test(arguments: samples)
  func thatIsCutShortNeverTraps(_ datagram: [UInt8]) {
    for length in 0..<datagram.count {
      let batch = NetlinkMessage.read(Array(datagram[..<length]))
      #expect(batch.isIntact == (length == 0))
      #expect(batch.messages.isEmpty)
      // The message is whole, and its contents are cut.
      let cut = KernelBytes.message(16, Array(datagram.dropFirst(16).prefix(length)))
      for type: UInt16 in [2, 3, 16, 17, 20, 21, 24, 25] {
        _ = facts(KernelBytes.message(type, Array(cut.dropFirst(16))))
      }
    }
  }

  @Test(arguments: [0, 1, 15, 17, 0xFFFF_FFFF, 0x8000_0000] as [UInt32])
  func thatLiesAboutItsLengthIsNotIntact(_ length: UInt32) {
    let good = KernelBytes.message(25, KernelBytes.route())
    let bad = KernelBytes.of(length) + [UInt8](repeating: 0, count: 12)
    let batch = NetlinkMessage.read(good + bad)
    #expect(!batch.isIntact)
    #expect(batch.messages.count == 1)
  }

  @Test func ofAttributesThatLieAboutTheirLengthGivesTheOnesBefore() {
    for length: UInt16 in [0, 3, 200, 0xFFFF] {
      var bytes = KernelBytes()
      bytes.attribute(1, [1, 2, 3])
      bytes.add(length)
      bytes.add(UInt16(2))
      #expect(ByteReader(bytes.bytes[...]).attributes.map(\.type) == [1])
    }
  }

  /// Sets one or two bytes of every message at a time to awkward values.
  ///
  /// Every byte takes every awkward value.
  @Test(arguments: samples.indices)
  func thatIsHostileNeverTraps(_ index: Int) {
    let sample = Self.samples[index]
    let values: [UInt8] = [0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 0x7F, 0x80, 0xFE, 0xFF]
    var random = SplitMix64(seed: UInt64(index))
    for position in sample.indices {
      for value in values {
        var bytes = sample
        bytes[position] = value
        _ = facts(bytes)
        bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
        _ = facts(bytes)
        _ = facts(bytes + sample)
      }
    }
  }
}
