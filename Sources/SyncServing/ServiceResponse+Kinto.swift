import SyncJSON
import SyncModels

extension ServiceResponse {
  static func json(_ body: [UInt8], status: Int = 200, headers: [String: String] = [:]) -> ServiceResponse {
    ServiceResponse(
      status: status, headers: headers.merging(["Content-Type": "application/json"]) { a, _ in a },
      body: .bytes(body))
  }

  /// An answer with some data.
  static func data(_ data: [UInt8], headers: [String: String] = [:]) -> ServiceResponse {
    .json(.json(["data": data]), headers: headers)
  }

  /// An answer with one resource.
  static func resource(_ data: [UInt8], stamp: Int64, status: Int = 200) -> ServiceResponse {
    .json(.json(["data": data, "permissions": .json([:])]), status: status, headers: .tags(stamp))
  }
}

extension [String: String] {
  /// The headers of what has a timestamp.
  static func tags(_ stamp: Int64) -> [String: String] {
    ["ETag": "\"\(stamp)\"", "Last-Modified": Timestamp(milliseconds: stamp).httpDate]
  }

  static func totals(_ count: Int) -> [String: String] {
    ["Total-Objects": "\(count)", "Total-Records": "\(count)"]
  }
}

extension Timestamp {
  /// Milliseconds since 1970, as Kinto's timestamps.
  var milliseconds: Int64 { microseconds / 1000 }

  /// The time as HTTP's headers have it.
  var httpDate: String {
    let time = max(self, Timestamp(microseconds: 0))
    let parts = time.rfc3339(fractionDigits: 0)?.split { "-TZ".contains($0) } ?? []
    guard parts.count == 4, let month = Int(parts[1]) else { return "" }
    let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let weekday = weekdays[Int(time.microseconds / 86_400_000_000 % 7)]
    return "\(weekday), \(parts[2]) \(months[month - 1]) \(parts[0]) \(parts[3]) GMT"
  }
}
