import './mutations.ts'
import './queries.ts'
import './snippets.ts'
