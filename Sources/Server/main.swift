import API
import Crypto
import Foundation
import HTTP
import Pipeline
import PurchaseModel
let args = CommandLine.arguments
if args[1] == "verify" {
    var options = Verify.Options()
    options.isJSON = true
    options.certificates = ProcessInfo.processInfo.environment["CERTS"]
    options.files = Array(args.dropFirst(2))
    exit(Verify(options: options).run())
}
let demo = Demo(folder: args[2])
try demo.prepare(at: SystemClock().now)
let key = Array(FileManager.default.contents(atPath: demo.keyPath)!)
let settings = ServeSettings(apps: [AppPolicy(id: AppID("demo")!, bundleID: BundleID("com.example.demo")!, environments: [.production, .sandbox], acceptsTestSigned: true)], keys: KeyRing([Digest.sha256(key): KeyRing.Holder(name: "demo", app: AppID("demo")!)]), roots: demo.folder + "/roots", certificates: nil, address: "127.0.0.1", port: 8080, data: demo.folder + "/ledger", http: HTTPLimits(), pipeline: PipelineLimits(), requestsPerSecond: 0)
exit(await Serve(settings: settings).run { port in Console.write(Array(demo.greeting(port: port).utf8)) })
