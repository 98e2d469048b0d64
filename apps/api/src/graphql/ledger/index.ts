import './mutations.ts'
import './queries.ts'
import './types.ts'
