#if Curl && os(Linux)
  import HTTPAdapters

  /// The headers of an answer, parsed line by line.
  struct AnswerHead {
    /// The result of a line.
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
    /// Whether the empty line after the headers has arrived.
    private(set) var isWhole = false

    /// Creates the parser of one answer.
    ///
    /// - Parameters:
    ///   - limit: The most bytes of all headers, those of interim answers and those after the body
    ///     included.
    ///   - isDecoded: Whether libcurl delivers the body decoded.
    init(limit: Int, isDecoded: Bool) {
      self.limit = limit
      self.isDecoded = isDecoded
    }

    /// Takes a line with its end.
    mutating func take(_ bytes: some BidirectionalCollection<UInt8>) -> Step {
      guard bytes.count <= limit - count else { return .tooLong }
      count += bytes.count
      // Headers after the body are counted and ignored.
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
        // The line continues the previous one.
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
        // An interim answer; the final one follows.
        self.status = nil
        return .more
      }
      isWhole = true
      var framing = hasFrames && headers["Content-Length"] == nil ? .frames : BodyFraming(headers)
      if isDecoded, headers["Content-Encoding"] != nil {
        headers["Content-Encoding"] = nil
        headers["Content-Length"] = nil
        // The length counted the bytes on the wire, and libcurl detects the end of a body that it
        // decompresses.
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
    /// The text without its final line break.
    ///
    /// A carriage return and a line feed are one character.
    fileprivate var droppingLineEnd: Substring {
      self[...].last.map { $0 == "\r\n" || $0 == "\n" || $0 == "\r" } == true ? dropLast() : self[...]
    }
  }
#endif
