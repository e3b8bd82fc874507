import API
import HTTP
import Pipeline
import PurchaseModel

/// The configuration in the words of the parts that it is for.
struct ServeSettings: Sendable {
    var apps: [AppPolicy]
    var keys: KeyRing
    var roots: String?
    var certificates: String?
    var address: String
    var port: UInt16
    var data: String
    var http: HTTPLimits
    var pipeline: PipelineLimits
    var requestsPerSecond: Int
}
