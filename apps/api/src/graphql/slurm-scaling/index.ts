import './mutations.ts'
import './queries.ts'
import './readiness.ts'
