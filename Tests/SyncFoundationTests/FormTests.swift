import CanonicalSync
import SyncAdapters
import SyncJSON
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads a value from JSON in a form; `nil` for other JSON.
private func read<Value: Codable & ScalarFormed & Sendable>(
  _ json: String, _ form: ScalarForm<Value>
) -> Value? {
  try? Payload(Array("[\(json)]".utf8)).values([Value].self, form).first
}

private enum State: String, Codable, FieldValueConvertible { case open, closed }

private struct Sale: SyncedRecord, Codable, Identifiable {
  static let recordType: RecordType = "sales"
  static let state = Field<Sale, State>("state")
  var id: String
  var soldAt: Date
  var state: State
}

@Suite("The JSON forms of Foundation's types")
struct FormTests {
  @Test func aValueIsEncodedAsARecordInTheFormsOfItsType() throws {
    let sale = Sale(id: "s1", soldAt: Date(timeIntervalSince1970: 1_775_066_400), state: .open)
    let payload = try Payload(encoding: sale)
    #expect(
      String(decoding: payload.bytes, as: UTF8.self)
        == #"{"id":"s1","soldAt":"2026-04-01T18:00:00Z","state":"open"}"#)
    #expect(Timestamp(iso8601: "2026-04-01T20:00:00+02:00") == Timestamp(milliseconds: 1_775_066_400_000))
    #expect(Timestamp(iso8601: "yesterday") == nil)
    // An enumeration needs no code of its own in a condition.
    #expect((Sale.state == .closed) == Condition.equal("state", .string("closed")))
  }

  @Test(arguments: [
    (#""2026-04-01T18:00:00Z""#, 1_775_066_400.0), (#""2026-04-01T18:00:00.25Z""#, 1_775_066_400.25),
    (#""2026-04-01T20:00:00+02:00""#, 1_775_066_400),
    (#""2026-04-01T18:00:00.123456789Z""#, 1_775_066_400.123456),
    (#""2026-04-01T12:30:00-05:30""#, 1_775_066_400), (#""2026-04-01T23:30:00+0530""#, 1_775_066_400),
    (#""2026-04-01 20:00+02""#, 1_775_066_400), (#""2026-04-01T18:00:00,5+00:00""#, 1_775_066_400.5),
    (#""2026-04-01T18\u003a00:00.25\u005A""#, 1_775_066_400.25),
    (#""2026-04-01t18:00:00z""#, 1_775_066_400), (#""1969-12-31T23:59:59.5Z""#, -0.5),
  ])
  func datesAreReadWithAndWithoutFractions(_ json: String, _ seconds: Double) throws {
    let date = try #require(read(json, .rfc3339))
    #expect(abs(date.timeIntervalSince1970 - seconds) < 0.000_001)
  }

  @Test(arguments: [
    #""2026-04-01Z""#, #""2026-04-01+02:00""#, #""2026-04-01T""#, #""2026-04-01T18:00""#,
    #""2026-04-01T18:00:00+""#, #""2026-04-01T18:00:00.Z""#, #""2026-04-01T18:00:00Z ""#,
    #""2026-04-01""#, #""2026-04-01T18:00:00""#, #""2026-13-01T18:00:00Z""#, #""2026-04-01T18:00:00Zx""#,
    #""""#,
    "816692800", "null", "true", "[]", "{}",
  ])
  func otherTextIsNoDate(_ json: String) { #expect(read(json, ScalarForm<Date>.rfc3339) == nil) }

  @Test(arguments: [
    (0.0, "1970-01-01T00:00:00Z"), (0.25, "1970-01-01T00:00:00.250Z"),
    (1_775_066_400.000001, "2026-04-01T18:00:00.000001Z"),
    (-62_167_219_200, "0000-01-01T00:00:00Z"), (253_402_300_799, "9999-12-31T23:59:59Z"),
    (-0.5, "1969-12-31T23:59:59.500Z"),
  ])
  func datesAreWrittenWithTheFewestDigits(_ seconds: Double, _ text: String) throws {
    let date = Date(timeIntervalSince1970: seconds)
    #expect(try written(date, .rfc3339) == "\"\(text)\"")
    #expect(read("\"\(text)\"", .rfc3339) == date)
  }

  @Test func datesHaveOtherForms() throws {
    let date = Date(timeIntervalSince1970: 1_775_066_400.25)
    #expect(try written(date, .rfc3339(fractionDigits: 3)) == #""2026-04-01T18:00:00.250Z""#)
    #expect(try written(date, .rfc3339(fractionDigits: 0)) == #""2026-04-01T18:00:00Z""#)
    #expect(try written(date, .secondsSince1970) == "1775066400.25")
    #expect(try written(Date(timeIntervalSince1970: -1.5), .secondsSince1970) == "-1.5")
    #expect(try written(date, .millisecondsSince1970) == "1775066400250")
    #expect(try written(date, .day) == #""2026-04-01""#)
    #expect(read("1775066400.25", .secondsSince1970) == date)
    #expect(read("1775066400250", .millisecondsSince1970) == date)
    #expect(read(#""2026-04-01""#, .day) == Date(timeIntervalSince1970: 1_775_001_600))
    #expect(read(#""1775066400""#, ScalarForm<Date>.secondsSince1970) == nil)
    #expect(read("1e300", ScalarForm<Date>.secondsSince1970) == nil)
  }

  @Test func datesThatNoFormCanWriteAreErrors() {
    for date in [Date.distantFuture.addingTimeInterval(1e12), Date(timeIntervalSince1970: .infinity)] {
      #expect(
        refusal { try written(date, .rfc3339) } == "value: The Date cannot be written as an RFC 3339 date.")
    }
    #expect(refusal { try written(Date(timeIntervalSince1970: .nan), .secondsSince1970) } != nil)
    #expect(refusal { try written(Decimal.nan, .number) } != nil)
  }

  @Test func decimalsKeepTheirDigits() throws {
    for text in [
      "0.1", "12.5", "123456789012345678901234567890.12345678", "-0.000001", "100", "0",
      "340282366920938463463374607431768211455", "-3402823669209384634633746074317682114.55",
    ] {
      let value = try #require(read(text, ScalarForm<Decimal>.number))
      #expect(try written(value, .number) == text)
      #expect(try written(value, .string) == "\"\(text)\"")
      #expect(read("\"\(text)\"", ScalarForm<Decimal>.string) == value)
    }
    #expect(read("1.50e3", ScalarForm<Decimal>.number) == 1500)
    #expect(read(#""1\u0032.50""#, ScalarForm<Decimal>.string) == 12.5)
    for text in [
      "1234567890123456789012345678901234567890.1", "340282366920938463463374607431768211456", "1e400",
      "1e-400", #""12.50""#,
    ] {
      #expect(read(text, ScalarForm<Decimal>.number) == nil, "\(text)")
    }
    for text in ["\"12,50\"", "\"1 \"", "\"\"", "\"x\"", "12.50"] {
      #expect(read(text, ScalarForm<Decimal>.string) == nil, "\(text)")
    }
  }

  /// Short numbers are read without `Decimal(string:)`.
  @Test func shortDecimalsAreWhatFoundationReads() throws {
    let wholes = ["0", "7", "10", "120", "999999", "12345678901234567", "123456789012345678"]
    let fractions = ["", ".0", ".5", ".50", ".05", ".00", ".000001", ".10000000"]
    for whole in wholes {
      for fraction in fractions {
        for text in ["\(whole)\(fraction)", "-\(whole)\(fraction)"] {
          let value = try #require(read(text, ScalarForm<Decimal>.number), "\(text)")
          let expected = try #require(Decimal(string: text))
          #expect(value == expected && value.description == expected.description, "\(text)")
          #expect(value.hashValue == expected.hashValue, "\(text)")
        }
      }
    }
    for text in ["01", "-", "1.", ".5", "-.5", "1.2.3", "+1", "00.1", "1 "] {
      #expect(read("\"\(text)\"", ScalarForm<Decimal>.string) == nil, "\(text)")
    }
  }

  @Test func urlsDataAndUUIDsAreStrings() throws {
    let url = try #require(URL(string: "https://example.org/a?b=c#d"))
    #expect(try written(url, URL.scalarForm) == #""https://example.org/a?b=c#d""#)
    #expect(read(#""https:\/\/example.org\/a?b=c#d""#, URL.scalarForm) == url)
    #expect(read(#""""#, URL.scalarForm) == nil)
    let data = Data([0xFB, 0xFF, 0xFE, 0])
    #expect(try written(data, .base64) == #""+//+AA==""#)
    #expect(try written(data, .base64URL) == #""-__-AA""#)
    #expect(read(#""-__-AA""#, .base64URL) == data && read(#""+//+AA==""#, .base64) == data)
    #expect(
      read(#""%""#, ScalarForm<Data>.base64) == nil && read(#""+//+AA==""#, ScalarForm<Data>.base64URL) == nil
    )
    let text = "e621e1f8-c36c-495a-93fc-0c247a3e6e5f"
    let uuid = try #require(UUID(uuidString: text))
    #expect(try written(uuid, .lowercase) == "\"\(text)\"")
    #expect(try written(uuid, .uppercase) == "\"\(text.uppercased())\"")
    #expect(read("\"\(text.uppercased())\"", .lowercase) == uuid)
  }
}

/// The message of the error that an encoding ends with; `nil` if it succeeds.
///
/// The test must not describe the values: Foundation traps at a date that is out of range.
private func refusal(_ body: () throws -> String) -> String? {
  do {
    _ = try body()
    return nil
  } catch EncodingError.invalidValue(let value, let context) {
    return "\(context.codingPath.map(\.stringValue).joined()): \(context.debugDescription)"
      + (value is String ? "" : " It holds the value.")
  } catch {
    return "\(error)"
  }
}

/// A record with one value in a form.
private struct Holder<Value: Codable & Sendable>: SyncedRecord, Codable {
  static var recordType: RecordType { "holders" }
  static var coding: RecordCoding { Forms.coding }
  var value: Value
}

/// The coding of the one that is being tried.
private enum Forms {
  @TaskLocal static var coding = RecordCoding()
}

private func written<Value: Codable & ScalarFormed & Sendable>(
  _ value: Value, _ form: ScalarForm<Value>
) throws -> String {
  try Forms.$coding.withValue(RecordCoding(.form(of: Value.self, form))) {
    let bytes = try Holder(value: value).fields()["value"]
    return String(decoding: bytes ?? [], as: UTF8.self)
  }
}

extension Payload {
  fileprivate func values<Value: Codable & ScalarFormed & Sendable>(
    _ type: [Value].Type, _ form: ScalarForm<Value>
  ) throws -> [Value] {
    try Forms.$coding.withValue(RecordCoding(.form(of: Value.self, form))) {
      let object = Payload(Array(#"{"value":"#.utf8) + Array(bytes) + [UInt8(ascii: "}")])
      return try object.decoded(as: Holder<[Value]>.self, key: "k").value
    }
  }
}
