// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The declarations of Apple's Network that Sources/AppleAdapters uses, after its documentation.
public import Dispatch

public final class NWPathMonitor {
  public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?
  public init() {}
  public func start(queue: DispatchQueue) {}
  public func cancel() {}
}

public struct NWPath: Sendable {
  public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
  public var status = Status.unsatisfied
  public var isConstrained = false
  public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool { false }
}

public enum NWInterface {
  public enum InterfaceType: Sendable { case other, wifi, cellular, wiredEthernet, loopback }
}
