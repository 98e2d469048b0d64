import './mutations.ts'
import './subscriptions.ts'
import './types.ts'
