package import HTTPAdapters
package import SyncConformance
import SyncModels

extension TransportHarness {
  /// Creates a harness for a transport of HTTPAdapters, with servers on this machine.
  package init(_ transport: any HTTPTransport, overTLS: Bool = false) {
    self.init(
      send: { (request) throws(SyncError) in
        guard let address = HTTPAddress(request.address) else {
          throw SyncError(.invalidConfiguration, during: "checking a transport", "The address is invalid.")
        }
        var wire = HTTPRequest(
          request.method, address, body: request.body, deadline: request.deadline,
          bodyLimit: request.bodyLimit)
        for (name, value) in request.headers { wire.headers[name] = value }
        let response = try await transport.send(wire)
        var answer = Answer(status: response.status, headers: [:], body: response.body)
        for (name, value) in response.headers.fields { answer.headers[name] = value }
        return answer
      },
      serve: { script, body in
        if overTLS {
          try await TLSFront.following(script, body)
        } else {
          try await LoopbackServer.following(script, body)
        }
      })
  }
}
