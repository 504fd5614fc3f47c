/// What ends a body as it comes over the wire.
package enum BodyFraming: Hashable, Sendable {
  /// A number of bytes that was announced.
  case length(Int64)
  /// Chunks or frames, of which the last one is marked.
  case frames
  /// The connection's end, which looks the same when the server died.
  case connection

  /// The framing that the headers of HTTP/1 announce.
  package init(_ headers: HTTPHeaders) {
    self =
      if headers["Transfer-Encoding"] != nil {
        .frames
      } else if let length = headers["Content-Length"].flatMap({ Int64($0) }), length >= 0 {
        .length(length)
      } else {
        .connection
      }
  }
}

/// The bytes of a body as they come.
///
/// They are kept in one piece where the length was announced, otherwise in several: an array that grows would hold several times as much.
struct AnswerBody {
  private(set) var count = 0
  private var pieces: [[UInt8]] = []

  /// Makes room for so many bytes. The system gives memory only to what is written.
  mutating func expect(_ length: Int) {
    guard length > 0, pieces.isEmpty else { return }
    addPiece(of: length)
  }

  mutating func append(_ bytes: some Collection<UInt8>) {
    let isRoom = pieces.last.map { $0.capacity - $0.count >= bytes.count } ?? false
    if !isRoom { addPiece(of: max(bytes.count, min(max(count, 16 << 10), 1 << 20))) }
    pieces[pieces.count - 1].append(contentsOf: bytes)
    count += bytes.count
  }

  private mutating func addPiece(of capacity: Int) {
    var piece: [UInt8] = []
    piece.reserveCapacity(capacity)
    pieces.append(piece)
  }

  /// All of them.
  var bytes: [UInt8] {
    if pieces.count == 1 { return pieces[0] }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for piece in pieces { bytes += piece }
    return bytes
  }
}
