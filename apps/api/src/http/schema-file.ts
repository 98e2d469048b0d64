import { printedSchema } from '../print-schema.ts'
import type { Handler } from './handler.ts'

/** `GET /graphql/schema.graphql`: the SDL of the schema. Public, because the source code is. */
export const sendSchema: Handler = (req, res) => {
  if (req.method !== 'GET' && req.method !== 'HEAD')
    return res.writeHead(405, { allow: 'GET, HEAD', 'content-type': 'text/plain; charset=utf-8' }).end('Use GET.\n')
  const sdl = printedSchema()
  res.writeHead(200, { 'content-type': 'application/graphql; charset=utf-8', 'cache-control': 'no-cache' })
  res.end(req.method === 'HEAD' ? undefined : sdl)
}
