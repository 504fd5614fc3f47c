package import HTTPAdapters
package import SyncModels
import Synchronization

/// A transport with scripted answers.
package final class ScriptedTransport: HTTPTransport {
  private struct State {
    var answers: [HTTPResponse]
    package var requests: [HTTPRequest] = []
  }
  private let state: Mutex<State>

  package convenience init(_ answers: HTTPResponse...) { self.init(answers) }
  package init(_ answers: [HTTPResponse]) { state = Mutex(State(answers: answers)) }

  package var requests: [HTTPRequest] { state.withLock { $0.requests } }
  /// The number of unused answers.
  package var unread: Int { state.withLock { $0.answers.count } }

  package func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
    let answer = state.withLock { state in
      state.requests.append(request)
      return state.answers.isEmpty ? nil : state.answers.removeFirst()
    }
    guard let answer else { throw SyncError(.storeFailure, during: "reading a script that has ended") }
    return answer
  }
}
