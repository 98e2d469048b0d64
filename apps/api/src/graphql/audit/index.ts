import './queries.ts'
import './types.ts'
