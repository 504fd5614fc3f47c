import SyncJSON
import SyncModels

/// The batch endpoint's format: many requests in one, each with its own answer.
enum KintoBatch {
  /// One request of a batch, as JSON.
  struct Request: Sendable {
    let json: [UInt8]

    /// The request for a change; it applies only to the change's base state.
    init(_ change: OutgoingChange, path: String) throws(SyncError) {
      let method = change.content == .deletion ? "DELETE" : "PUT"
      var json = Array(#"{"method":"\#(method)","path":"#.utf8)
      JSONString.append(path, to: &json)
      json += Array(#","headers":{"#.utf8)
      if let tag = change.base.record.flatMap(Self.tag) {
        json += Array(#""If-Match":"\"\#(tag)\"""#.utf8)
      } else {
        // A deletion, too, must not hit a state that was never seen here.
        json += Array(#""If-None-Match":"*""#.utf8)
      }
      json.append(UInt8(ascii: "}"))
      if let payload = change.content.payload {
        json += Array(#","body":{"data":"#.utf8)
        do {
          json += try KintoContent.sendable(payload)
        } catch {
          throw SyncError(
            .inconsistentData, during: "pushing edits", "The edit of \(change.id) is not a JSON object.",
            underlying: error)
        }
        json.append(UInt8(ascii: "}"))
      }
      json.append(UInt8(ascii: "}"))
      self.json = json
    }

    /// The time that identifies a copy; `nil` for a copy that came from no server.
    private static func tag(of record: Record) -> Int64? {
      let tag =
        record.entityTag.flatMap { Int64($0) } ?? record.version.modifiedAt.microseconds / 1000
      return tag > 0 ? tag : nil
    }
  }

  /// The body of a batch.
  static func body(_ requests: [Request]) -> [UInt8] {
    var body = Array(#"{"requests":["#.utf8)
    for (index, request) in requests.enumerated() {
      if index > 0 { body.append(UInt8(ascii: ",")) }
      body += request.json
    }
    return body + Array("]}".utf8)
  }

  /// The answers, in the order of the requests.
  ///
  /// - Throws: `invalidResponse` unless there is one for each request.
  static func answers(in body: [UInt8], count: Int) throws(SyncError) -> [KintoBatchAnswer] {
    var answers: [KintoBatchAnswer] = []
    do {
      try JSONScanner.members(of: body[...], depthLimit: .max) { member throws(JSONError) in
        guard member.hasKey(Array("responses".utf8)) else { return }
        try JSONScanner.elements(of: member.value.bytes, depthLimit: .max) { element throws(JSONError) in
          answers.append(try KintoBatchAnswer(element.bytes))
        }
      }
    } catch {
      throw HTTPFailure.unreadable(error, during: "pushing edits")
    }
    guard answers.count == count else {
      throw SyncError(
        .invalidResponse, during: "pushing edits",
        "\(Counted(count, "change has", "changes have")) \(Counted(answers.count, "answer")).")
    }
    return answers
  }
}
