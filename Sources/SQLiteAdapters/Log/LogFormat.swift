#if SQLite
  /// The first bytes of a log.
  struct LogHeader {
    /// The bytes of a log's header.
    static let size = 32
    /// The bytes of a frame before its page.
    static let frameSize = 24

    /// Whether the header is as SQLite has written it.
    let isIntact: Bool
    /// Whether it was concluded from frames that are not the log's first.
    ///
    /// They may be of an earlier generation, whose pages are all in the file.
    let isConjectured: Bool
    let pageSize: Int
    /// Eight bytes that the frames of the log's generation have as well.
    let salts: [UInt8]
    /// The checksum that the header states.
    let checksum: LogChecksum
    let order: LogChecksum.Order
    private let bytes: [UInt8]

    /// Reads a header; `nil` for a damaged one.
    init?(_ bytes: [UInt8]) {
      let magic = bytes.number(at: 0)
      let size = Int(bytes.number(at: 8))
      order = magic == 0x377F_0683 ? .highestFirst : .lowestFirst
      checksum = LogChecksum(storedIn: bytes[24..<32])
      guard magic & ~1 == 0x377F_0682, bytes.number(at: 4) == Self.version,
        (512...65536).contains(size), size & (size - 1) == 0,
        LogChecksum().adding(bytes[..<24], order) == checksum
      else { return nil }
      (isIntact, isConjectured) = (true, false)
      pageSize = size
      salts = Array(bytes[16..<24])
      self.bytes = bytes
    }

    /// Describes a log without an intact header by two adjacent frames.
    ///
    /// - Parameter areFirst: Whether they are the log's first frames.
    init?(damaged bytes: [UInt8], first: [UInt8], second: [UInt8], areFirst: Bool) {
      // Zeros follow zeros. A frame has the number of a page.
      guard second.number(at: 0) > 0, first[8..<16] == second[8..<16] else { return nil }
      let stored = LogChecksum(storedIn: first[16..<24])
      let order = [LogChecksum.Order.lowestFirst, .highestFirst].first {
        stored.addingFrame(second, $0) == LogChecksum(storedIn: second[16..<24])
      }
      guard let order else { return nil }
      self.order = order
      (isIntact, isConjectured) = (false, !areFirst)
      pageSize = Self.usualPageSize
      salts = Array(first[8..<16])
      checksum = LogChecksum(storedIn: bytes[24..<32])
      self.bytes = bytes
    }

    private static let version: UInt32 = 3_007_000
    /// The bytes of a page in every store.
    static let usualPageSize = 4096

    /// The checksum of the header's bytes, whatever it states.
    var counted: LogChecksum { LogChecksum().adding(bytes[..<24], order) }

    /// The bytes of an intact header of this log.
    var repaired: [UInt8] {
      if isIntact { return bytes }
      var header = [UInt8](repeating: 0, count: 16) + salts
      for (place, number) in [0x377F_0682, Self.version, UInt32(pageSize)].enumerated() {
        header.set(number, at: 4 * place)
      }
      return header + LogChecksum().adding(header[...], .lowestFirst).bytes
    }
  }

  /// The checksum of a log up to some place: two numbers that go on from frame to frame.
  struct LogChecksum: Hashable {
    private(set) var a: UInt32 = 0
    private(set) var b: UInt32 = 0

    /// The order of the bytes in the numbers that are added.
    enum Order {
      case highestFirst, lowestFirst
    }

    init() {}

    /// Reads a checksum, whose numbers have their highest byte first.
    init(storedIn bytes: ArraySlice<UInt8>) {
      let bytes = Array(bytes)
      (a, b) = (bytes.number(at: 0), bytes.number(at: 4))
    }

    var bytes: [UInt8] {
      var bytes = [UInt8](repeating: 0, count: 8)
      bytes.set(a, at: 0)
      bytes.set(b, at: 4)
      return bytes
    }

    /// Returns the checksum behind a frame: of its first eight bytes and its page.
    func addingFrame(_ frame: [UInt8], _ order: Order) -> LogChecksum {
      adding(frame[..<8], order).adding(frame[LogHeader.frameSize...], order)
    }

    /// Returns the checksum behind some bytes, a multiple of eight.
    func adding(_ bytes: ArraySlice<UInt8>, _ order: Order) -> LogChecksum {
      var sum = self
      bytes.withUnsafeBytes { bytes in
        for place in stride(from: 0, to: bytes.count & ~7, by: 8) {
          sum.a &+= bytes.word(at: place, order) &+ sum.b
          sum.b &+= bytes.word(at: place + 4, order) &+ sum.a
        }
      }
      return sum
    }
  }

  extension UnsafeRawBufferPointer {
    fileprivate func word(at place: Int, _ order: LogChecksum.Order) -> UInt32 {
      let word = loadUnaligned(fromByteOffset: place, as: UInt32.self)
      return order == .lowestFirst ? UInt32(littleEndian: word) : UInt32(bigEndian: word)
    }
  }

  extension [UInt8] {
    /// The number of four bytes at a place, the highest byte first.
    func number(at place: Int) -> UInt32 {
      self[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func set(_ number: UInt32, at place: Int) {
      for byte in 0..<4 { self[place + byte] = UInt8(truncatingIfNeeded: number >> UInt32(24 - 8 * byte)) }
    }
  }
#endif
