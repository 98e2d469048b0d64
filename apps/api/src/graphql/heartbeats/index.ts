import './subscriptions.ts'
import './types.ts'
