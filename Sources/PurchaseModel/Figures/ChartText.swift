/// What charts are called and what they count, in words for people.
extension ChartName {
    package var title: String {
        switch self {
        case .purchases: "Purchases"
        case .revenue: "Revenue"
        case .refunds: "Refunds"
        case .refundRate: "Refund rate"
        case .subscribers: "Subscribers"
        case .recurring: "Monthly recurring revenue"
        case .movements: "Movements of the monthly recurring revenue"
        case .churn: "Churn"
        case .trials: "Trials"
        case .trialConversion: "Trial conversion"
        case .renewalRate: "Renewal rate"
        case .retention: "Retention by cohort"
        case .renewalsDue: "Renewals due"
        case .valueDue: "Value of the renewals due"
        case .billing: "Billing problems"
        case .recovery: "Recovery of failed renewals"
        case .recoveryRate: "Recovery rate"
        case .orders: "Orders"
        case .deliveries: "Deliveries"
        }
    }

    package var definition: String {
        switch self {
        case .purchases, .revenue, .refunds, .refundRate, .orders, .deliveries: saleDefinition
        case .subscribers, .recurring, .movements, .churn, .retention: monthDefinition
        default: periodDefinition
        }
    }

    private var saleDefinition: String {
        switch self {
        case .purchases:
            """
            Transactions that Apple signed, each once, on the day of the purchase (UTC). What was restored, and what a \
            family shares, is not among them.
            """
        case .revenue:
            """
            What Apple signed as the price, before tax and Apple's share are taken off, on the day of the purchase. Net is \
            without what was refunded, on the day of the refund, and without the unused time of what was upgraded, on the \
            day of the upgrade. Purchases without a signed price are counted apart, never guessed.
            """
        case .refunds:
            "Purchases that Apple took back, on the day on which it did. A reversed refund is taken out again."
        case .refundRate: "Refunds of a month in a hundred purchases of the same month."
        case .orders:
            "Orders of the shop, all on the day on which they were placed: how far those of each day have come."
        default: "What was granted, on the day of its purchase, and how much of it the shop has said to have delivered."
        }
    }

    private var monthDefinition: String {
        switch self {
        case .subscribers:
            """
            Subscriptions whose period, paid or free, runs at the first moment of the month (UTC). Grace and billing retry \
            count only once Apple has charged for them.
            """
        case .recurring:
            """
            The prices of all paid periods that run at the first moment of the month, each for one month: a year's through \
            12, a week's by days. Trials bring nothing. An offer counts with what it cost.
            """
        case .movements:
            """
            What changed between the first moments of a month and the next: new subscriptions, higher prices, those who \
            came back, lower prices, and those who left.
            """
        case .retention:
            """
            Of a hundred subscriptions that began in the month those that ran at the first moment of the month so many \
            months later. What has not come yet is left open.
            """
        default: "Of a hundred subscriptions at the first moment of the month those that do not run at its end."
        }
    }

    private var periodDefinition: String {
        switch self {
        case .trials:
            """
            Free trials on the day on which they began, and those that were paid for on the day of the first paid period \
            after them.
            """
        case .trialConversion:
            """
            Of a hundred trials that began in the month those that have been paid for since. One that lapsed and was \
            followed by another trial was not.
            """
        case .renewalRate:
            """
            Of a hundred paid periods that ended in the month those after which another one began within 60 days, or 90 where \
            a year is paid for by the month. What was refunded or upgraded is not among them.
            """
        case .renewalsDue:
            """
            Active subscriptions that are set to renew, on the day on which their period ends. What a family shares is not \
            among them.
            """
        case .valueDue: "What Apple has signed as the price of those renewals, where it has."
        case .recovery:
            """
            Renewals that Apple could not charge, on the day on which the period before ended: paid while the grace ran, \
            paid later while Apple tried, and lost. Open is what Apple may still try to charge: what nobody has told to be \
            over is open for 90 days, as long as Apple ever tries.
            """
        case .recoveryRate:
            """
            Of a hundred renewals that Apple could not charge in the month, as far as it is settled what became of them, \
            those paid after all: in grace, and later in billing retry.
            """
        default:
            """
            What the shop was told of, on the day on which we learned of it: a grace or a billing retry began, a charge \
            succeeded after all, a subscription ended.
            """
        }
    }
}
