import './mutations.ts'
import './queries.ts'
import './subscriptions.ts'
import './types.ts'
