import './mutations.ts'
import './queries.ts'
import './sessions.ts'
import './types.ts'
