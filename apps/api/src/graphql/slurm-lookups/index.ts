import './mutations.ts'
import './types.ts'
