import Foundation
var options = Verify.Options()
options.isJSON = true
options.certificates = ProcessInfo.processInfo.environment["CERTS"]
options.files = Array(CommandLine.arguments.dropFirst())
exit(Verify(options: options).run())
