#if Curl && os(Linux)
  @testable import CurlAdapters
  import HTTPAdapters
  import Testing

  @Suite("The head of an answer")
  struct AnswerHeadTests {
    /// Passes lines until one of them has a result.
    private func step(
      _ lines: [String], limit: Int = 1000, isDecoded: Bool = false
    ) -> (AnswerHead.Step, AnswerHead) {
      var head = AnswerHead(limit: limit, isDecoded: isDecoded)
      for line in lines {
        let step = head.take(Array(line.utf8))
        if step != .more { return (step, head) }
      }
      return (.more, head)
    }

    @Test func endsWithAnEmptyLine() {
      let lines = ["HTTP/1.1 200 OK\r\n", "A: 1\r\n", "b:\t two \r\n"]
      let (before, cut) = step(lines)
      #expect(before == .more)
      #expect(!cut.isWhole)
      let (after, whole) = step(lines + ["\r\n"])
      #expect(
        after == .whole(HTTPResponse(status: 200, headers: ["a": "1", "B": "two"]), .connection))
      #expect(whole.isWhole)
    }

    @Test(arguments: [
      (["Content-Length: 7\r\n"], BodyFraming.length(7)), (["Transfer-Encoding: chunked\r\n"], .frames),
      (["Content-Length: 7\r\n", "Transfer-Encoding: chunked\r\n"], .frames),
      (["Content-Length: -7\r\n"], .connection), (["Content-Length: 99999999999999999999\r\n"], .connection),
      ([], .connection),
    ])
    func tellsWhatEndsTheBody(_ fields: [String], _ framing: BodyFraming) {
      guard case .whole(_, let found) = step(["HTTP/1.1 200 OK\r\n"] + fields + ["\r\n"]).0 else {
        Issue.record("The head is whole.")
        return
      }
      #expect(found == framing)
    }

    @Test func ofTheSecondVersionNeedsNoLength() {
      let (found, _) = step(["HTTP/2 200\r\n", "\r\n"])
      #expect(found == .whole(HTTPResponse(status: 200), .frames))
    }

    @Test func joinsWhatComesTwiceOrGoesOn() {
      let (found, _) = step(["HTTP/1.1 200 OK\r\n", "A: 1\r\n", "a: 2\r\n", " 3\r\n", "nothing\r\n", "\r\n"])
      #expect(found == .whole(HTTPResponse(status: 200, headers: ["a": "1, 2 3"]), .connection))
    }

    @Test func startsAgainAfterAnInterimAnswer() {
      let (found, _) = step([
        "HTTP/1.1 103 Early Hints\r\n", "A: 1\r\n", "\r\n", "HTTP/1.1 404 Not Found\r\n", "\r\n",
      ])
      #expect(found == .whole(HTTPResponse(status: 404), .connection))
    }

    @Test(arguments: [
      "HTTP/1.1 20 OK\r\n", "HTTP/1.1 2000 OK\r\n", "HTTP/1.1 abc\r\n", "HTTP/1.1\r\n", "SSH-2.0\r\n", "\r\n",
    ])
    func isNoneWithoutAStatus(_ line: String) { #expect(step([line]).0 == .noHTTP) }

    @Test func isBoundedWithAllThatComesAfterIt() {
      let lines = ["HTTP/1.1 200 OK\r\n", "\r\n"]
      var (_, head) = step(lines, limit: 40)
      #expect(head.take(Array("Trailer: 1\r\n".utf8)) == .more)
      #expect(head.take(Array("Trailer: 12345678\r\n".utf8)) == .tooLong)
      #expect(step(["HTTP/1.1 200 OK\r\n"], limit: 16).0 == .tooLong)
    }

    @Test func saysNothingOfAnEncodingThatIsUndone() {
      let (found, _) = step(
        ["HTTP/1.1 200 OK\r\n", "Content-Encoding: gzip\r\n", "Content-Length: 7\r\n", "\r\n"],
        isDecoded: true)
      #expect(found == .whole(HTTPResponse(status: 200), .connection))
    }
  }
#endif
