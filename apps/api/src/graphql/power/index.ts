import './discoveries.ts'
import './mutations.ts'
import './queries.ts'
import './subscriptions.ts'
