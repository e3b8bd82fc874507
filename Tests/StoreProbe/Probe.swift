import PurchaseModel
import Storage
import Glibc

func cpu() -> Double { var t = timespec(); unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return Double(t.tv_sec) + Double(t.tv_nsec)/1e9 }
func wall() -> Double { var t = timespec(); unsafe clock_gettime(CLOCK_MONOTONIC, &t); return Double(t.tv_sec) + Double(t.tv_nsec)/1e9 }
@main struct P {
  static func recording(_ id: Int64, _ n: Int = 1) -> Recording {
    let ts = (0..<n).map { i in Transaction(id: TransactionID(number: id &+ Int64(i))!, originalID: TransactionID(number: id)!, product: ProductID("com.example.coins.100")!, kind: .consumable, purchasedAt: Timestamp(milliseconds: 1_700_000_000_000), originallyPurchasedAt: Timestamp(milliseconds: 1_700_000_000_000), ownership: .purchased, accountToken: AccountToken(high: UInt64(id), low: 7), price: Price(milliunits: 990, currency: "USD"), storefront: "USA", appTransaction: "704123456789012345", signedAt: Timestamp(milliseconds: 1_700_000_000_000)) }
    return Recording(app: AppID("space-quest")!, realm: Realm(environment: .production, isTestSigned: false), transactions: ts, customer: CustomerID("customer-\(id % 100000)"), order: OrderID("order-\(id)"))
  }
  static func main() async throws {
    let a = CommandLine.arguments
    if a[1] == "decide" {
      for n in [1, 10, 500] {
        let r = recording(5, n); let s = Situation(); let s2: Situation = { var s = Situation(); s.apply(decide(s, r, at: Timestamp(milliseconds: 1))); return s }()
        let rounds = 20000/n
        var t = cpu(); var k = 0
        for _ in 0..<rounds { k += decide(s, r, at: Timestamp(milliseconds: 1)).changes.count }
        print(n, "new", (cpu()-t)/Double(rounds)*1e6, "us"); t = cpu()
        for _ in 0..<rounds { k += decide(s2, r, at: Timestamp(milliseconds: 1)).changes.count }
        print(n, "replay", (cpu()-t)/Double(rounds)*1e6, "us", k)
      }
      return
    }
    let batch = Int(a[3])!, total = Int(a[4])!, size = Int(a[5])!
    let store = try SQLiteStore.open(folder: a[2])
    var x: UInt64 = 88172645463325252
    var lat: [Double] = []
    let proof = [UInt8](repeating: 65, count: size)
    let c0 = cpu(), w0 = wall()
    for _ in 0..<(total/batch) {
      var rs: [Recording] = []
      for _ in 0..<batch { x ^= x << 13; x ^= x >> 7; x ^= x << 17; rs.append(recording(Int64(x >> 2))) }
      let batchRecs = rs
      let t = wall()
      try await store.write { tr throws(StoreFailure) in
        var s = try tr.situation(around: batchRecs.flatMap(\.keys))
        for r in batchRecs { let d = decide(s, r, at: Timestamp(milliseconds: 5)); s.apply(d)
          try tr.apply(d, evidence: EvidenceRow(digest: ProofDigest([UInt8](repeating: 7, count: 32))!, format: "jws", proof: proof, customer: r.customer, receivedAt: Timestamp(milliseconds: 5), verdict: "recorded")) }
      }
      lat.append(wall()-t)
    }
    let c1 = cpu(), w1 = wall()
    lat.sort()
    print("rows/s", Double(total)/(w1-w0), "cpu us/row", (c1-c0)/Double(total)*1e6, "p50", lat[lat.count/2]*1e3, "p99", lat[lat.count*99/100]*1e3, "max", lat.last!*1e3)
    await store.close()
    print("close", wall()-w1)
  }
}
