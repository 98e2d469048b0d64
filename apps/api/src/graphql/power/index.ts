import './mutations.ts'
import './queries.ts'
import './subscriptions.ts'
