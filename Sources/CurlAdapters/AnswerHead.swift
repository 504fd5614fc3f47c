#if Curl && os(Linux)
  import HTTPAdapters

  /// The headers of an answer, taken line by line.
  struct AnswerHead {
    /// What a line led to.
    enum Step: Equatable {
      case more
      case whole(HTTPResponse, BodyFraming)
      case tooLong
      case noHTTP
    }

    private let limit: Int
    private let isDecoded: Bool
    private var count = 0
    private var status: Int?
    private var hasFrames = false
    private var headers: HTTPHeaders = [:]
    private var lastName: String?
    /// Whether the line that ends them has come.
    private(set) var isWhole = false

    /// Prepares for an answer.
    ///
    /// - Parameters:
    ///   - limit: How many bytes the headers may have, those of interim answers and the ones after the body included.
    ///   - isDecoded: Whether the body is handed over without its encoding.
    init(limit: Int, isDecoded: Bool) {
      self.limit = limit
      self.isDecoded = isDecoded
    }

    /// Takes a line with its end.
    mutating func take(_ bytes: some BidirectionalCollection<UInt8>) -> Step {
      guard bytes.count <= limit - count else { return .tooLong }
      count += bytes.count
      // What comes after the body says nothing that was needed before it.
      if isWhole { return .more }
      let line = String(decoding: bytes, as: UTF8.self).droppingLineEnd
      guard let status else { return takeStatus(line) }
      if line.isEmpty { return takeEnd(status) }
      takeField(line)
      return .more
    }

    private mutating func takeStatus(_ line: Substring) -> Step {
      let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
      guard line.hasPrefix("HTTP/"), parts.count >= 2, parts[1].utf8.count == 3, let number = Int(parts[1]),
        number >= 100
      else { return .noHTTP }
      status = number
      hasFrames = !parts[0].hasPrefix("HTTP/1")
      headers = [:]
      lastName = nil
      return .more
    }

    private mutating func takeField(_ line: Substring) {
      if line.first == " " || line.first == "\t" {
        // The line before goes on.
        if let lastName, let value = headers[lastName] {
          headers[lastName] = "\(value) \(line.trimmingSpaces)"
        }
      } else if let colon = line.firstIndex(of: ":") {
        let name = String(line[..<colon].trimmingSpaces)
        let value = String(line[line.index(after: colon)...].trimmingSpaces)
        headers[name] = headers[name].map { "\($0), \(value)" } ?? value
        lastName = name
      }
    }

    private mutating func takeEnd(_ status: Int) -> Step {
      guard status >= 200 else {
        // An interim answer; the answer itself follows.
        self.status = nil
        return .more
      }
      isWhole = true
      var framing = hasFrames && headers["Content-Length"] == nil ? .frames : BodyFraming(headers)
      if isDecoded, headers["Content-Encoding"] != nil {
        headers["Content-Encoding"] = nil
        headers["Content-Length"] = nil
        // The length was that of what came over the wire, and libcurl does not miss the end of what it decompresses.
        framing = .connection
      }
      return .whole(HTTPResponse(status: status, headers: headers), framing)
    }
  }

  extension Substring {
    fileprivate var trimmingSpaces: Substring {
      let start = drop { $0 == " " || $0 == "\t" }
      guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
      return start[...last]
    }
  }

  extension String {
    /// The text without a carriage return and a line feed, which are one character, or without either.
    fileprivate var droppingLineEnd: Substring {
      self[...].last.map { $0 == "\r\n" || $0 == "\n" || $0 == "\r" } == true ? dropLast() : self[...]
    }
  }
#endif
