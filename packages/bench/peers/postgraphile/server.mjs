// PostGraphile 5 over the same database, set up as its documentation advises for production: Amber preset, no GraphiQL, no explain.
import { createServer } from 'node:http'
import { postgraphile } from 'postgraphile'
import { makePgService } from 'postgraphile/adaptors/pg'
import { grafserv } from 'postgraphile/grafserv/node'
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber'

const preset = {
  extends: [PostGraphileAmberPreset],
  grafast: { explain: false },
  grafserv: { graphiql: false, watch: false },
  pgServices: [makePgService({ connectionString: process.env.DATABASE_URL, schemas: ['public'], poolConfig: { max: 10 } })],
}
const instance = postgraphile(preset).createServ(grafserv)
const server = createServer()
await instance.addTo(server)
server.listen(Number(process.env.PORT), '127.0.0.1')
