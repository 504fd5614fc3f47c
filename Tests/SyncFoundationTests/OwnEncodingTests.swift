import CanonicalSync
import Foundation
import InMemoryAdapters
import SyncAdapters
import Testing

/// A record with one value.
private struct Holder<Value: Codable & Sendable>: SyncedRecord, Codable, Identifiable {
  static var recordType: RecordType { "holders" }
  static var coding: RecordCoding { Coding.current }
  var id = "h"
  var value: Value
}

private enum Coding {
  @TaskLocal static var current = RecordCoding()
}

/// A wrapper that passes the encoder on, as many property wrappers do.
private struct Passing<Value: Codable & Sendable>: Codable, Sendable {
  var value: Value
  init(_ value: Value) { self.value = value }
  init(from decoder: any Decoder) throws { value = try Value(from: decoder) }
  func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

/// One that hands its value to a container.
private struct Handing<Value: Codable & Sendable>: Codable, Sendable {
  var value: Value
  init(_ value: Value) { self.value = value }
  init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Value.self) }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

private struct Break: Codable, Sendable {
  var at: Date
  var link: URL?
}

/// Foundation's types encode themselves for Foundation: a date as seconds since 2001, a URL and a
/// decimal number as objects.
@Suite("What Foundation's types write themselves", .timeLimit(.minutes(10)))
struct OwnEncodingTests {
  private static let date = Date(timeIntervalSince1970: 1_795_000_000)
  private static let text = #""2026-11-18T11:06:40Z""#

  /// The JSON that the remote would get for a value.
  private func written<Value: Codable & Sendable>(_ value: Value) throws -> String {
    String(decoding: try Holder(value: value).fields()["value"] ?? [], as: UTF8.self)
  }

  private func refusal<Value: Codable & Sendable>(_ value: Value) -> String? {
    do {
      _ = try written(value)
      return nil
    } catch EncodingError.invalidValue(_, let context) {
      return context.debugDescription
    } catch {
      return "\(error)"
    }
  }

  @Test func isNotWhatTheyAreInsideOtherValues() throws {
    let (date, text) = (Self.date, Self.text)
    #expect(try written(Break(at: date)) == #"{"at":\#(text)}"#)
    #expect(try written([date, nil] as [Date?]) == "[\(text),null]")
    #expect(try written([[date]]) == "[[\(text)]]")
    #expect(try written(["a": date]) == #"{"a":\#(text)}"#)
    #expect(
      try written(["a": [Break(at: date, link: URL(string: "a:b"))]])
        == #"{"a":[{"at":\#(text),"link":"a:b"}]}"#)
    #expect(try written(date...date) == "[\(text),\(text)]")
    #expect(try written(Set([date])) == "[\(text)]")
    #expect(try written(Optional(Optional(date))) == text)
    #expect(try written([date: Decimal(1)]) == "[\(text),1]")
    #expect(try written(Handing(Handing(date))) == text)
    #expect(try written([Handing(Decimal(string: "0.5"))]) == "[0.5]")
  }

  @Test func isNotWhatTheyAreAsKeys() throws {
    let uuid = try #require(UUID(uuidString: "e621e1f8-c36c-495a-93fc-0c247a3e6e5f"))
    let json = try written([uuid: Self.date])
    #expect(json == #"["e621e1f8-c36c-495a-93fc-0c247a3e6e5f",\#(Self.text)]"#)
  }

  @Test func isRefusedOfTypesWithoutAForm() throws {
    let calendar = Calendar(identifier: .gregorian)
    #expect(refusal(calendar) != nil)
    let interval = DateInterval(start: Self.date, duration: 1)
    #expect(refusal(interval)?.contains("DateInterval is Foundation's own") == true)
    #expect(refusal([calendar]) != nil)
    #expect(refusal(["a": Optional(Locale(identifier: "en_US"))]) != nil)
    #expect(refusal(DateComponents(year: 2026)) != nil)
    #expect(refusal(TimeZone(identifier: "Europe/Berlin")) != nil)
    #expect(refusal(URLComponents(string: "https://a.example")) != nil)
    #expect(refusal(IndexSet([1])) != nil)
    #expect(refusal(IndexPath(index: 1)) != nil)
    #expect(refusal(CharacterSet.decimalDigits) != nil)
    #expect(refusal(PersonNameComponents(givenName: "Ada")) != nil)
    #expect(refusal(Handing(calendar)) != nil)
    // One number or string is what an app would write, too.
    #expect(try written(CGFloat(1.5)) == "1.5")
    #expect(try written(Locale.Region("DE")) == #""DE""#)
  }

  @Test func isRefusedWhereAWrapperPassesTheEncoderOn() throws {
    #expect(refusal(Passing(Self.date))?.contains("passes the encoder to its Date") == true)
    #expect(refusal([Passing(Passing(Self.date))]) != nil)
    #expect(refusal(Passing(Decimal(12))) != nil)
    #expect(refusal(Passing(Data([1, 2]))) != nil)
    let url = try #require(URL(string: "https://a.example"))
    #expect(refusal(Passing(url)) != nil)
    #expect(try written(Passing("text")) == #""text""#)
    // An optional hands what it holds to a container.
    #expect(try written(Passing(Optional(Self.date))) == Self.text)
    #expect(try written(Passing([Self.date])) == "[\(Self.text)]")
    // Both cases mean the same UUID.
    #expect(refusal(Passing(UUID())) == nil)
  }

  /// A wrapper with a state of its own, as many property wrappers have.
  private struct Tracked<Value: Codable & Sendable>: Codable, Sendable {
    var history: [Value] = []
    var changes = 0
    var isTracked = true
    var name: String?
    var value: Passing<Value>
    init(_ value: Value) { self.value = Passing(value) }
    init(from decoder: any Decoder) throws { value = try Passing(from: decoder) }
    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
  }

  /// One whose type does not tell what it holds.
  private struct Erased: Codable, Sendable {
    var value: any Codable & Sendable
    init(_ value: any Codable & Sendable) { self.value = value }
    init(from decoder: any Decoder) throws { value = try Int(from: decoder) }
    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
  }

  private enum Event: Codable { case begin(Date), both(Int, Passing<Date>) }
  private enum State: String, Codable { case open }
  private enum Keys: String, CodingKey { case at }

  /// A type with keys that are declared elsewhere.
  private struct Elsewhere: Codable {
    var at: Date
    init(at: Date) { self.at = at }
    init(from decoder: any Decoder) throws {
      at = try decoder.container(keyedBy: Keys.self).decode(Date.self, forKey: .at)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(at, forKey: .at)
    }
  }

  @Test func isRefusedOfAWrapperWithManyMembers() throws {
    #expect(refusal(Tracked(Self.date))?.contains("passes the encoder to its Date") == true)
    let url = try #require(URL(string: "https://a.example"))
    #expect(refusal([Tracked(url)]) != nil)
    #expect(try written(Tracked("text")) == #""text""#)
    #expect(try written(Tracked(Break(at: Self.date))) == #"{"at":\#(Self.text)}"#)
  }

  @Test func isRefusedByTheValueWhereTheTypeDoesNotTellIt() throws {
    // The first value must not decide for the type.
    #expect(try written(Erased(1)) == "1")
    #expect(refusal(Erased(Self.date)) != nil)
    #expect(try written(Erased(Break(at: Self.date))) == #"{"at":\#(Self.text)}"#)
    let url = try #require(URL(string: "https://a.example"))
    #expect(refusal(Erased(url)) != nil)
  }

  @Test func isNotWhatTypesWithKeysOfTheirOwnWrite() throws {
    #expect(try written(Event.begin(Self.date)) == #"{"begin":{"_0":\#(Self.text)}}"#)
    #expect(refusal(Event.both(1, Passing(Self.date))) != nil)
    #expect(try written(["a": State.open]) == #"{"a":"open"}"#)
    #expect(try written(Elsewhere(at: Self.date)) == #"{"at":\#(Self.text)}"#)
  }

  private struct Place: Codable {
    var latitude = 1.0
    static var keys: any CodingKey.Type { CodingKeys.self }
  }
  private struct Shop: Codable {
    struct Place: Codable {
      var latitude = 1.0
      static var keys: any CodingKey.Type { CodingKeys.self }
    }
    var place = Place()
    func encode(to encoder: any Encoder) throws { try place.encode(to: encoder) }
  }

  /// Reflection on every value costs more than its encoding.
  @Test func isSoughtOnlyInTypesThatMayPassTheEncoderOn() throws {
    #expect(EncodingOrigin.of(Place(), keyedBy: Place.keys) == .ownType)
    #expect(EncodingOrigin.of(State.open, keyedBy: nil) == .ownType)
    #expect(EncodingOrigin.of(["a"], keyedBy: nil) == .ownType)
    #expect(EncodingOrigin.of("a", keyedBy: nil) == .ownType)
    #expect(EncodingOrigin.of(Shop(), keyedBy: Shop.Place.keys) == .unknown)
    #expect(EncodingOrigin.of(Elsewhere(at: Self.date), keyedBy: Keys.self) == .unknown)
    #expect(EncodingOrigin.of(Passing(Self.date), keyedBy: nil) == .unknown)
    #expect(EncodingOrigin.of(Calendar.current, keyedBy: nil) == .foundation)
  }

  @Test func isRefusedInAFormOfNumbers() throws {
    try Coding.$current.withValue(RecordCoding(.form(of: Date.self, .secondsSince1970))) {
      () throws -> Void in
      #expect(try written(Self.date) == "1795000000")
      #expect(try written(Handing(Self.date)) == "1795000000")
      #expect(refusal(Passing(Self.date)) != nil)
    }
  }

  @Test func isNoOtherNumberOfATypeOfTheApp() throws {
    struct Epoch: Codable {
      var date: Date
      init(date: Date) { self.date = date }
      init(from decoder: any Decoder) throws {
        date = Date(timeIntervalSince1970: try decoder.singleValueContainer().decode(Double.self))
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(date.timeIntervalSince1970)
      }
    }
    #expect(try written(Epoch(date: Self.date)) == "1795000000")
  }

  @Test func waitsInNoOutbox() async throws {
    let remote = InMemoryRemote()
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("holders")), store: InMemoryStore(), source: remote, sink: remote)
    await #expect { try await engine.edits.upsert(Holder(value: Passing(Self.date))) } throws: { error in
      (error as? SyncError)?.code == .invalidEdit
    }
    await #expect(throws: SyncError.self) {
      try await engine.edits.upsert(Holder(value: ["a": DateComponents(year: 2026)]))
    }
    #expect(try await engine.sync().pushed == PushCounts())
    #expect(remote.records(of: "holders").isEmpty)
  }
}
