import CanonicalSync
import InMemoryAdapters

/// The data of version 1 of the app: ten copies of each of 500 meters, and readings.
///
/// The readings refer to the first copies.
enum VersionOne {
  private static let meters = 500
  private static let copies = 10

  /// Writes the records at the remote, one day for each installation of the app.
  static func leaveMeters(at remote: InMemoryRemote, since today: Timestamp) {
    for copy in 1...copies {
      remote.load(
        "meters", (1...meters).map { (key(of: $0, copy), Array(json(of: $0, copy).utf8)) },
        modifiedAt: today - .seconds(86_400 * (copies - copy + 1)))
    }
    remote.load(
      "readings",
      (1...meters).map { meter in
        let json = #"{"meter":"\#(key(of: meter, 1))","litres":\#(meter * 37 % 1000)}"#
        return (number(meter), Array(json.utf8))
      }, modifiedAt: today - .seconds(3600))
  }

  private static func key(of meter: Int, _ copy: Int) -> String { "\(number(meter))-\(copy)" }

  private static func json(of meter: Int, _ copy: Int) -> String {
    let digits = "02005e" + String(0x10_0000 + meter, radix: 16)
    // Half of the installations spelled addresses with colons.
    let mac = copy.isMultiple(of: 2) ? digits : pairs(of: digits.uppercased()).joined(separator: ":")
    return #"{"mac":"\#(mac)","name":"Meter \#(meter), copy \#(copy)"}"#
  }

  private static func pairs(of digits: String) -> [String] {
    stride(from: 0, to: digits.count, by: 2).map { String(digits.dropFirst($0).prefix(2)) }
  }

  /// A number with leading zeros, so that keys sort by number.
  private static func number(_ meter: Int) -> String {
    let digits = String(meter)
    return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
  }
}
